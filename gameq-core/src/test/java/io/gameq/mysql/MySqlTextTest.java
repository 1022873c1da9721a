package io.gameq.mysql;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.mysql.MySqlErrors.MySqlText;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MySqlTextTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "Duplicate entry 'Bob-7' for key 'player.name' | Duplicate entry '...' for key"
            + " 'player.name'",
        "Duplicate entry 'it's for key 'x' for key 'name' | Duplicate entry '...' for key 'name'",
        "Incorrect integer value: 'secret' for column 'level' at row 1 | Incorrect integer value:"
            + " '...' for column 'level' at row 1",
        "Incorrect string value: '\\xF0\\x9F' for column `a`.`b`.`c` at row 2 | Incorrect string"
            + " value: '...' for column `a`.`b`.`c` at row 2",
        "Table has no partition for value 42 | Table has no partition for value '...'",
        "BIGINT value is out of range in '(`level` - 7)' | BIGINT value is out of range in '...'",
        "Truncated incorrect DOUBLE value: '1x' | Truncated incorrect DOUBLE value: '...'",
        "Data truncation: Data too long for column 'name' at row 1 | Data truncation: Data too long"
            + " for column 'name' at row 1",
        "Check constraint 'few' is violated. | Check constraint 'few' is violated."
      })
  void valuesAreHiddenAndNamesStay(String said, String told) {
    assertEquals(told, MySqlText.of(said));
  }
}
