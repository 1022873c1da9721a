package io.gameq.mysql.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.mysql.schema.Settings.SchemaFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class SchemaFilesTest {
  @Test
  void listsEveryFileOfTheSqlFolder() throws IOException {
    try (var files = Files.list(Path.of("..", "sql"))) {
      assertEquals(
          files.map(file -> file.getFileName().toString()).sorted().toList(),
          SchemaFiles.all().stream().map(SchemaFiles.SchemaFile::name).toList());
    }
  }

  @Test
  void numbersRiseAndStatementsAreRead() {
    int before = 0;
    for (SchemaFiles.SchemaFile file : SchemaFiles.all()) {
      assertTrue(file.number() > before, file.name());
      before = file.number();
      assertFalse(file.statements().isEmpty(), file.name());
      for (String statement : file.statements()) {
        assertTrue(
            statement.startsWith("CREATE TABLE IF NOT EXISTS gameq_")
                || statement.startsWith("ALTER TABLE gameq_")
                || statement.startsWith("INSERT IGNORE INTO gameq_"),
            file.name());
      }
    }
    assertEquals(before, SchemaFiles.latest());
  }
}
