package io.gameq.terminal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.terminal.TextTable.TerminalWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class TextTableTest {
  private static final String LONG_OWNER = "player:" + "x".repeat(120);

  private static List<String> printed(int columns, List<String> cells, String... headings) {
    StringWriter text = new StringWriter();
    TerminalWriter out = new TerminalWriter(text, columns);
    new TextTable(out, headings).leavingOut("VERSION").print(List.of(cells));
    return text.toString().lines().toList();
  }

  @Test
  void cutsLongTextsOnATerminalAndNoneOfAPipe() {
    List<String> cells = List.of("1", LONG_OWNER, "2026-11-24 17:50:18.568", LONG_OWNER);
    List<String> narrow = printed(80, cells, "ID", "OWNER", "WHEN", "SESSION");
    assertTrue(narrow.stream().allMatch(line -> line.length() <= 80), narrow::toString);
    assertTrue(
        narrow.get(1).matches("1 +player:x+\\.\\.\\.  2026-11-24 17:50:18\\.568  .*\\.\\.\\."));
    assertTrue(printed(0, cells, "ID", "OWNER", "WHEN", "SESSION").get(1).endsWith(LONG_OWNER));
  }

  @Test
  void leavesOutColumnsThatHaveNoRoom() {
    List<String> cells = List.of("12345678901234567890", "2026-11-24 17:50:18.568", "refused now");
    List<String> narrow = printed(40, cells, "VERSION", "WHEN", "ERROR");
    assertEquals("no room for VERSION: --json has all", narrow.get(0));
    assertEquals("2026-11-24 17:50:18.568  refused now", narrow.get(2));
  }

  @Test
  void aSentenceGoesOnInTheNextLine() {
    List<String> narrow =
        printed(40, List.of("redis", "set a limit below the memory of the host"), "CHECK", "");
    assertEquals(
        List.of("CHECK", "redis  set a limit below the memory of", "       the host"), narrow);
  }
}
