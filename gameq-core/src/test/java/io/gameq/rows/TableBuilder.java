package io.gameq.rows;

import io.gameq.rows.Table.Column;
import io.gameq.rows.Table.ForeignKeys;
import io.gameq.rows.Table.TableDefinition;
import io.gameq.rows.types.ColumnDefault;
import io.gameq.rows.types.ColumnTypes;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Builds tables for tests; every column is NOT NULL without a default unless it says otherwise. */
public final class TableBuilder {
  private final String name;
  private final List<Column> columns = new ArrayList<>();
  private final Set<String> generated = new LinkedHashSet<>();
  private final Set<String> dropped = new LinkedHashSet<>();
  private List<String> key = List.of("id");
  private String ownerKind = "player";
  private String ownerColumn = "player_id";
  private int rank;

  private TableBuilder(String name) {
    this.name = name;
  }

  public static TableBuilder table(String name) {
    return new TableBuilder(name);
  }

  public TableBuilder column(String column, String type) {
    return column(column, type, false, ColumnDefault.NONE);
  }

  public TableBuilder nullable(String column, String type) {
    return column(column, type, true, ColumnDefault.NULL);
  }

  public TableBuilder column(
      String column, String type, boolean nullable, ColumnDefault onAbsence) {
    boolean text = type.contains("char") || type.contains("text");
    String charset = text ? "utf8mb4" : null;
    columns.add(
        new Column(
            name + "." + column,
            column,
            ColumnTypes.declaration(type, charset),
            ColumnTypes.parse(type, charset, text ? "utf8mb4_bin" : null),
            nullable,
            onAbsence));
    return this;
  }

  public TableBuilder generated(String column) {
    generated.add(column);
    return this;
  }

  /** It was announced that the table loses this column. */
  public TableBuilder dropped(String column) {
    dropped.add(column);
    return this;
  }

  public TableBuilder key(String... columnsOfKey) {
    key = List.of(columnsOfKey);
    return this;
  }

  public TableBuilder owner(String kind, String column) {
    ownerKind = kind;
    ownerColumn = column;
    return this;
  }

  public TableBuilder rank(int foreignKeyRank) {
    rank = foreignKeyRank;
    return this;
  }

  public Table build() {
    return new Table(
        new TableDefinition(
            name,
            columns,
            generated,
            dropped,
            key,
            ownerKind,
            ownerColumn,
            List.of(),
            ForeignKeys.of(rank, List.of(), false)));
  }

  /** The canonical form under a type, in a column called {@code t.c}. */
  public static Object canonical(String type, @Nullable String charset, Object in) {
    return ColumnTypes.parse(type, charset, charset == null ? null : charset + "_bin")
        .canonical(in, "t.c");
  }
}
