package io.gameq.mysql.schema;

import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.IndexPart;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
import io.gameq.rows.types.ColumnType;
import io.gameq.rows.types.ColumnTypes;
import io.gameq.rows.types.UnmanageableException;
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
 * @param what in words
 */
record NewPrimaryKey(
    List<String> columns, List<String> clauses, List<String> afterwards, String what) {

  /** A UNIQUE key whose columns always have a value, else the numbered column, else a new one. */
  static NewPrimaryKey of(TableFacts table, String ownerColumn) {
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
            "its UNIQUE key %s becomes the primary key".formatted(name));
      }
    }
    for (ColumnFacts column : table.columns()) {
      if (column.extraHas("auto_increment")) {
        return new NewPrimaryKey(
            List.of(column.name()),
            List.of("ADD PRIMARY KEY " + inBrackets(List.of(column.name()))),
            List.of(),
            "its numbered column %s becomes the primary key".formatted(column.name()));
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
        ("a new column %s numbers its rows; where some columns together differ in every row, make"
                + " these the primary key instead")
            .formatted(name));
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
