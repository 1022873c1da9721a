package io.gameq.mysql.schema;

import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
import io.gameq.rows.Table;
import java.util.List;
import java.util.stream.IntStream;

/** Makes gq_version what it has to be. Stateless. */
final class VersionColumnFix {
  private static final String VERSION =
      JdbcValues.quoted(Table.VERSION_COLUMN) + " BIGINT UNSIGNED NOT NULL DEFAULT 0";

  private VersionColumnFix() {}

  /**
   * Adds what a table needs. A column that is only missing is left to 'schema migrate', which
   * copies no table for it.
   *
   * @param alter statements before the one of the clauses
   * @param clauses of ALTER TABLE, as far as they are known
   */
  static void add(
      TableFacts table,
      List<Flaw> flaws,
      List<String> alter,
      List<String> clauses,
      List<String> notes) {
    ColumnFacts there = table.column(Table.VERSION_COLUMN);
    if (there == null) {
      if (!clauses.isEmpty()) {
        clauses.add("ADD COLUMN " + VERSION);
      }
      return;
    }
    String name = JdbcValues.quoted(there.name());
    for (Flaw flaw : flaws) {
      if (flaw.kind() == Flaw.Kind.OTHER_VERSION_COLUMN) {
        String free = freeName(table);
        notes.add(
            "column %s becomes %s and is kept; what names it has to name it anew"
                .formatted(there.name(), free));
        // By itself: one statement cannot give the name away and take it.
        alter.add(
            "ALTER TABLE %s RENAME COLUMN %s TO %s"
                .formatted(JdbcValues.quoted(table.name()), name, JdbcValues.quoted(free)));
        clauses.add("ADD COLUMN " + VERSION);
      } else if (flaw.kind() == Flaw.Kind.VERSION_COLUMN) {
        notes.add("numbers that stand in it count as versions of their rows");
        if (there.nullable()) {
          notes.add(
              "rows in which it is NULL are updated: so are columns ON UPDATE CURRENT_TIMESTAMP,"
                  + " and triggers run");
          alter.add(
              "UPDATE %s SET %2$s = 0 WHERE %2$s IS NULL"
                  .formatted(JdbcValues.quoted(table.name()), name));
        }
        clauses.add("CHANGE COLUMN %s %s".formatted(name, VERSION));
      }
    }
  }

  private static String freeName(TableFacts table) {
    return IntStream.iterate(1, i -> i + 1)
        .mapToObj(i -> "gq_version_before" + (i == 1 ? "" : i))
        .filter(name -> table.column(name) == null)
        .findFirst()
        .orElseThrow();
  }
}
