package io.gameq.mysql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
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
  void numbersWithoutGapsAndReadsStatements() {
    assertEquals(
        IntStream.rangeClosed(1, SchemaFiles.latest()).boxed().toList(),
        SchemaFiles.all().stream().map(SchemaFiles.SchemaFile::number).toList());
    for (SchemaFiles.SchemaFile file : SchemaFiles.all()) {
      assertEquals(1, file.statements().size(), file.name());
      String statement = file.statements().get(0);
      boolean creates =
          statement.startsWith("CREATE TABLE IF NOT EXISTS gameq_")
              && statement.endsWith("ENGINE=InnoDB");
      assertTrue(creates || statement.startsWith("ALTER TABLE gameq_"), file.name());
    }
  }
}
