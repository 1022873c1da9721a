package io.gameq.terminal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class ShownTest {
  @Test
  void aNameCannotSteerTheTerminal() {
    assertEquals("\\u001b[2Jboss\\u000a\\u202eeno", Shown.value("\u001b[2Jboss\n\u202eeno"));
    assertEquals("Zoë 🎉", Shown.value("Zoë 🎉"));
  }

  @Test
  void valuesAreOnOneLine() {
    assertEquals("NULL", Shown.value(null));
    assertEquals("0x00ff", Shown.value(new byte[] {0, -1}));
    String blob = Shown.value(new byte[2 << 20]);
    assertTrue(blob.endsWith("00... (2,097,152 bytes)") && blob.length() < 2_100, blob);
    assertEquals("abcd...", Shown.cut("abcdefgh", 7));
    assertEquals("abcdefg", Shown.cut("abcdefg", 7));
  }

  @Test
  void theTimeOfAVersionIsItsUpper48Bits() {
    assertEquals("65537 (1970-01-01 00:00:00.001 UTC)", Shown.version(65_537));
  }

  @Test
  void columnsStayAlignedFromPageToPage() {
    StringWriter text = new StringWriter();
    TextTable table = new TextTable(new PrintWriter(text, true), "ID", "NAME", "X");
    table.print(List.of());
    table.print(List.of(List.of("1", "a long name", "x")));
    table.print(List.of(List.of("2", "b", "y")));
    assertEquals(
        """
        ID  NAME         X
        1   a long name  x
        2   b            y
        """,
        text.toString());
  }
}
