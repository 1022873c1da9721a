package io.gameq.mysql.schema;

import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.IndexPart;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
import io.gameq.rows.types.ColumnType;
import io.gameq.rows.types.ColumnTypes;
import io.gameq.rows.types.ColumnTypes.UnmanageableException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The primary key that a table without one can have; immutable.
 *
 * @param columns those of it; empty when it is a new one
 * @param clauses of ALTER TABLE
 * @param afterwards statements that run when it is there
 * @param notes what it is and asks for, in words
 */
record NewPrimaryKey(
    List<String> columns, List<String> clauses, List<String> afterwards, List<String> notes) {

  /**
   * A UNIQUE key whose columns always have a value, else the numbered column, else a new one.
   *
   * @param partitioned then only a UNIQUE key will do, since that has the partitioning's columns
   * @return null where none will do
   */
  static @Nullable NewPrimaryKey of(TableFacts table, String ownerColumn, boolean partitioned) {
    for (String name : table.otherUniqueKeys()) {
      List<IndexPart> parts =
          table.indexParts().stream().filter(part -> part.index().equals(name)).toList();
      if (parts.stream().allMatch(part -> isFit(table, part, ownerColumn))) {
        List<String> columns = parts.stream().map(part -> String.valueOf(part.column())).toList();
        return new NewPrimaryKey(
            columns,
            List.of("ADD PRIMARY KEY " + inBrackets(columns)),
            // By itself: a foreign key may need an index of these columns all the time.
            List.of(
                "ALTER TABLE %s DROP INDEX %s"
                    .formatted(JdbcValues.quoted(table.name()), JdbcValues.quoted(name))),
            List.of("its UNIQUE key %s becomes the primary key".formatted(name)));
      }
    }
    if (partitioned) {
      return null;
    }
    for (ColumnFacts column : table.columns()) {
      if (column.extraHas("auto_increment")) {
        return new NewPrimaryKey(
            List.of(column.name()),
            List.of("ADD PRIMARY KEY " + inBrackets(List.of(column.name()))),
            List.of(),
            List.of("its numbered column %s becomes the primary key".formatted(column.name())));
      }
    }
    String name =
        Stream.of("id", table.name() + "_id", "row_id", "gameq_row_id")
            .filter(free -> table.column(free) == null)
            .findFirst()
            .orElseThrow();
    return new NewPrimaryKey(
        List.of(),
        List.of(
            "ADD COLUMN %s BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY"
                .formatted(JdbcValues.quoted(name))),
        List.of(),
        notesOfNew(table, name));
  }

  private static List<String> notesOfNew(TableFacts table, String name) {
    List<String> notes = new ArrayList<>();
    notes.add(
        ("a proposal: a new column %s numbers the rows, and from then on the game gives each new"
                + " row its number")
            .formatted(name));
    String columns =
        table.columns().stream()
            .filter(of -> !of.nullable() && !of.generated() && isComparable(of))
            .map(of -> JdbcValues.quoted(of.name()))
            .collect(Collectors.joining(", "));
    if (!columns.isEmpty()) {
      notes.add(
          "where some columns together differ in every row, make these the primary key instead;"
              + " leave out of this query what is not to be in it, and it must find nothing:");
      notes.add(
          "SELECT %1$s, COUNT(*) FROM %2$s GROUP BY %1$s HAVING COUNT(*) > 1"
              .formatted(columns, JdbcValues.quoted(table.name())));
    }
    return notes;
  }

  private static boolean isFit(TableFacts table, IndexPart part, String ownerColumn) {
    ColumnFacts column = part.column() == null ? null : table.column(part.column());
    if (column == null || part.prefix() || column.generated()) {
      return false;
    }
    return (!column.nullable() || column.name().equals(ownerColumn)) && isComparable(column);
  }

  /** As it is, or once it has a binary collation. */
  static boolean isComparable(ColumnFacts column) {
    try {
      ColumnType type =
          ColumnTypes.parse(column.columnType(), column.charset(), binary(column.charset()));
      return type.keyProblem() == null;
    } catch (UnmanageableException e) {
      return false;
    }
  }

  private static @Nullable String binary(@Nullable String charset) {
    return charset == null ? null : charset + "_bin";
  }

  static String inBrackets(List<String> columns) {
    return columns.stream().map(JdbcValues::quoted).collect(Collectors.joining(", ", "(", ")"));
  }
}
