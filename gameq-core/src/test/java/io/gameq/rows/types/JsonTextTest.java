package io.gameq.rows.types;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.gameq.RowRefusedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTextTest {
  @Test
  void sortsKeysByLengthThenBytes() {
    assertEquals(
        "{\"a\": 1, \"b\": {}, \"aa\": [1, 2], \"é\": 3}",
        canonical("{\"aa\":[1,2], \"b\":{},\"é\":3,\"a\":1}"));
  }

  @Test
  void keepsTheLastOfEqualKeys() {
    assertEquals("{\"a\": 2}", canonical("{\"a\":1,\"a\":2}"));
  }

  @Test
  void escapesAsMySqlDoes() {
    assertEquals(
        "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u001f\u007fé\"",
        canonical("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u001F\\u007f\\u00e9\""));
  }

  @Test
  void printsNumbersAsMySqlDoes() {
    assertEquals(
        "[0, -0.0, 1.0, 100.0, 100000000000000.0, 1e15, 0.000000000000001, 1e-16, 5e-324]",
        canonical("[-0,-0.0,1.0,1e2,1E14,1e15,1e-15,1e-16,5e-324]"));
    assertEquals("[-3282171235614731.5]", canonical("[-3282171235614731.5]"));
    assertEquals(
        "[18446744073709551615, -9223372036854775808, 1.2345678901234568e29]",
        canonical("[18446744073709551615,-9223372036854775808,123456789012345678901234567890]"));
  }

  @Test
  void takesAHundredLevels() {
    assertEquals("[".repeat(100) + "]".repeat(100), canonical("[".repeat(100) + "]".repeat(100)));
    refuses("[".repeat(101) + "]".repeat(101));
    refuses("[".repeat(5000));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{",
        "[1,]",
        "{\"a\"}",
        "nul",
        "01",
        "'a'",
        "1 2",
        "\"\\ud83d\"",
        "1e400",
        "{a:1}",
        "NaN",
        "\"\n\"",
        "[1}"
      })
  void refuses(String text) {
    assertThrows(RowRefusedException.class, () -> canonical(text));
  }

  private static String canonical(String text) {
    return JsonText.canonical(text, "t.c");
  }
}
