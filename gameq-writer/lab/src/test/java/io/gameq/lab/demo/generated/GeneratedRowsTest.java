package io.gameq.lab.demo.generated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.Row;
import io.gameq.lab.demo.SqlScript;
import io.gameq.lab.mysql.ScratchDatabase;
import io.gameq.rows.Table;
import io.gameq.rows.TableRow;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every generated row fits: the catalogue, the server, and what the server gives back. */
@Tag("long")
class GeneratedRowsTest {
  private static final int ROWS = 400;

  private static final String SCHEMA =
      """
      CREATE TABLE clan (id INT AUTO_INCREMENT PRIMARY KEY, chief INT NOT NULL UNIQUE, name \
      CHAR(12) NOT NULL UNIQUE) ENGINE=InnoDB;
      CREATE TABLE hero (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(12) NOT NULL UNIQUE) \
      ENGINE=InnoDB;
      ALTER TABLE clan ADD FOREIGN KEY (chief) REFERENCES hero (id);
      CREATE TABLE member (hero_id INT PRIMARY KEY, clan_id INT NOT NULL, leader_id INT NULL,
        FOREIGN KEY (hero_id) REFERENCES hero (id), FOREIGN KEY (clan_id) REFERENCES clan (id),
        FOREIGN KEY (leader_id) REFERENCES hero (id)) ENGINE=InnoDB;
      CREATE TABLE numbers (hero_id INT, n SMALLINT, PRIMARY KEY (hero_id, n),
        a TINYINT NOT NULL, b TINYINT UNSIGNED, c SMALLINT UNSIGNED, d MEDIUMINT, e INT UNSIGNED, \
        f BIGINT NOT NULL,
        g BIGINT UNSIGNED NOT NULL, h BIT(1), i BIT(64) NOT NULL, j DECIMAL(20,6), k DECIMAL(5,0) \
        UNSIGNED,
        l FLOAT, m DOUBLE NOT NULL, o YEAR) ENGINE=InnoDB;
      CREATE TABLE texts (hero_id INT, k VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin, \
      PRIMARY KEY (k, hero_id),
        a CHAR(5) NOT NULL, b VARCHAR(255) CHARACTER SET utf8mb4, c TINYTEXT CHARACTER SET \
        utf8mb4, d TEXT CHARACTER SET utf8mb3,
        e MEDIUMTEXT CHARACTER SET latin1 NOT NULL, f JSON, g ENUM('a','it''s','x,y') NOT NULL, h \
        SET('a','b','c'),
        i BINARY(4), j VARBINARY(9) NOT NULL, l BLOB, m LONGBLOB) ENGINE=InnoDB DEFAULT \
        CHARSET=utf8mb4;
      CREATE TABLE times (id BIGINT UNSIGNED PRIMARY KEY, hero_id INT NOT NULL, serial \
      VARBINARY(16) NOT NULL UNIQUE,
        a DATE, b DATETIME NOT NULL, c DATETIME(6), d TIMESTAMP NOT NULL DEFAULT \
        CURRENT_TIMESTAMP, e TIMESTAMP(3) NULL,
        f TIME, g TIME(6), twice INT AS (1 + 1)) ENGINE=InnoDB;
      CREATE TABLE flag (id TINYINT PRIMARY KEY, hero_id INT NOT NULL) ENGINE=InnoDB;
      """;

  @Test
  void everyRowIsTakenByTheServerAndComesBackEqual() {
    MySqlServer server = TestServers.mysql().freshDatabase("generated");
    StringWriter said = new StringWriter();
    try (ScratchDatabase database = new ScratchDatabase(server.config(2))) {
      database.run(SqlScript.statements(SCHEMA).stream().map(SqlScript.Statement::sql).toList());
      GeneratedGame game =
          GeneratedGame.over(
              database,
              new GeneratedGame.Plan(
                  "generated", 4, List.of("hero_id"), false, 1, new PrintWriter(said, true)));
      assertTrue(
          said.toString().contains("managed (5): hero, member, numbers, texts, times"),
          said::toString);
      assertTrue(said.toString().contains("flag: the demo makes no rows for it"), said::toString);
      Random random = new Random(1);
      Map<String, Row> made = new HashMap<>();
      for (int i = 0; i < ROWS; i++) {
        Object owner = Long.valueOf(game.actor(i).owner().split(":", 2)[1]);
        for (RowGenerator of : game.generators()) {
          Row row = canonicalRow(of, owner, random);
          insert(database, of.table(), row);
          made.put(row.key(), row);
        }
      }
      for (RowGenerator of : game.generators()) {
        database.scan(
            of.table(),
            row -> {
              Row expected = made.remove(row.key());
              if (expected != null) { // else one of the rows to refer to
                assertEquals(text(expected), text(row));
                assertEquals(expected, row);
              }
            });
      }
      assertEquals(Map.of(), made);
    }
  }

  private static String text(Row row) {
    return Arrays.deepToString(row.asMap().values().toArray());
  }

  private static Row canonicalRow(RowGenerator of, Object owner, Random random) {
    @Nullable Object[] row = of.changed(of.row(owner, random), random);
    @Nullable Object[] canonical = new @Nullable Object[row.length];
    for (int i = 0; i < row.length; i++) {
      canonical[i] = of.table().columns().get(i).canonical(row[i]);
    }
    assertTrue(Arrays.deepEquals(row, canonical), of.table().name());
    return new TableRow(of.table(), row);
  }

  private static void insert(ScratchDatabase database, Table table, Row row) {
    database.insert(table.name(), table.columns(), Arrays.asList(row.asMap().values().toArray()));
  }
}
