package io.gameq.mysql.schema;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.RowCodec.LayoutSource;
import io.gameq.rows.Table;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * Column lists of encoded rows in {@code gameq_layout}, and columns that are dropped on purpose in
 * {@code gameq_dropped_column}. Thread-safe; all throw {@link io.gameq.MySqlException} when MySQL
 * does not answer.
 */
public final class LayoutTable implements LayoutSource {
  static final String DROPPED = "gameq_dropped_column";

  private final MySql mysql;

  public LayoutTable(MySql mysql) {
    this.mysql = mysql;
  }

  /** Keeps the column lists of all tables; to be done before rows are encoded with them. */
  public void register(Catalog catalog) {
    catalog.tables().forEach(this::register);
  }

  /** The same of one table. */
  public void register(Table table) {
    register(table.name(), table.fingerprint(), table.layout());
  }

  /** Keeps a column list, unless it is kept. */
  public void register(String table, long fingerprint, String columns) {
    int unused =
        mysql.ask(
            handle ->
                handle.execute(
                    "INSERT IGNORE INTO gameq_layout (table_name, fingerprint, columns) VALUES (?,"
                        + " ?, ?)",
                    table,
                    fingerprint,
                    columns));
  }

  /** Columns by table that are dropped on purpose. */
  static Map<String, Set<String>> dropped(Handle handle) {
    Map<String, Set<String>> dropped = new HashMap<>();
    handle
        .createQuery("SELECT table_name, column_name FROM gameq_dropped_column")
        .map((row, context) -> Map.entry(row.getString(1), row.getString(2)))
        .forEach(of -> dropped.computeIfAbsent(of.getKey(), table -> anyCase()).add(of.getValue()));
    return dropped;
  }

  /** Rows that name this column are to be written without it once the table lacks it. */
  public void announceDrop(String table, String column) {
    int unused =
        mysql.askAgain(
            handle ->
                handle.execute(
                    "INSERT IGNORE INTO gameq_dropped_column (table_name, column_name,"
                        + " announced_at) VALUES (?, ?, UTC_TIMESTAMP(3))",
                    table,
                    column));
  }

  /** Takes that back; returns whether it was announced. */
  public boolean withdrawDrop(String table, String column) {
    return mysql.askAgain(
            handle ->
                handle.execute(
                    "DELETE FROM gameq_dropped_column WHERE table_name = ? AND column_name = ?",
                    table,
                    column))
        > 0;
  }

  /**
   * Names of all columns that rows of a table were ever encoded with, as far as they are known. The
   * set takes capitals and small letters for the same, as MySQL does.
   */
  public Set<String> everKnown(String table) {
    return mysql.ask(handle -> everKnown(handle, table));
  }

  private static Set<String> everKnown(Handle handle, String table) {
    Set<String> known = anyCase();
    handle
        .select("SELECT columns FROM gameq_layout WHERE table_name = ?", table)
        .mapTo(String.class)
        .forEach(columns -> known.addAll(Table.namesInLayout(columns)));
    return known;
  }

  /**
   * What is odd about the columns of a managed table: some are gone and nobody announced it, or are
   * announced and there. Empty where gameq's own tables are missing.
   */
  public List<String> oddities(String table) {
    return mysql.ask(
        handle -> {
          boolean isThere =
              handle
                      .createQuery(
                          "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA ="
                              + " DATABASE() AND TABLE_NAME IN ('gameq_layout', '"
                              + DROPPED
                              + "')")
                      .mapTo(Integer.class)
                      .one()
                  == 2;
          return isThere ? oddities(handle, table) : List.of();
        });
  }

  private static List<String> oddities(Handle handle, String table) {
    Set<String> there = anyCase();
    handle
        .select(
            "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND"
                + " TABLE_NAME = ?",
            table)
        .mapTo(String.class)
        .forEach(there::add);
    Set<String> announced = anyCase();
    announced.addAll(dropped(handle).getOrDefault(table, Set.of()));
    Set<String> gone = everKnown(handle, table);
    gone.removeAll(there);
    gone.removeAll(announced);
    List<String> found = new ArrayList<>();
    if (!gone.isEmpty()) {
      found.add(
          ("rows were once written with %s, which the table lacks: such rows would wait, so where"
                  + " that was dropped on purpose run 'schema drop-column %s %s'")
              .formatted(String.join(" and ", gone), table, String.join(" ", gone)));
    }
    announced.retainAll(there);
    for (String column : announced) {
      found.add(
          ("column %1$s is announced as dropped and is there: drop it, or take that back by 'schema"
                  + " drop-column --undo %2$s %1$s'")
              .formatted(column, table));
    }
    return found;
  }

  private static Set<String> anyCase() {
    return new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
  }

  @Override
  public @Nullable String layout(String table, long fingerprint) {
    return mysql.<@Nullable String>ask(
        handle ->
            handle
                .select(
                    "SELECT columns FROM gameq_layout WHERE table_name = ? AND fingerprint = ?",
                    table,
                    fingerprint)
                .mapTo(String.class)
                .findOne()
                .orElse(null));
  }
}
