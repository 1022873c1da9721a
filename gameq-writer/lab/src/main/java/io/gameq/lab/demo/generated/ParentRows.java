package io.gameq.lab.demo.generated;

import io.gameq.GameQueueException;
import io.gameq.lab.mysql.SchemaFacts;
import io.gameq.lab.mysql.SchemaFacts.ColumnFacts;
import io.gameq.lab.mysql.SchemaFacts.ForeignKey;
import io.gameq.lab.mysql.SchemaFacts.TableFacts;
import io.gameq.lab.mysql.ScratchDatabase;
import io.gameq.rows.Table.Column;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Rows that foreign keys may refer to in tables that the demo does not manage: those that are
 * there, or a few that it inserts. One thread while it inserts; immutable then.
 */
final class ParentRows {
  private static final int INSERTED = 4;
  private static final int MOST_CHOICES = 200;

  private final ScratchDatabase database;
  private final SchemaFacts schema;
  private final Random random;
  private final Map<ForeignKey, List<Object[]>> choices = new HashMap<>();
  private final Set<String> filling = new HashSet<>();
  private final List<String> filled = new ArrayList<>();

  ParentRows(ScratchDatabase database, SchemaFacts schema, Random random) {
    this.database = database;
    this.schema = schema;
    this.random = random;
  }

  /** The tables that this inserted rows into, parents first. */
  List<String> filled() {
    return filled;
  }

  /** Values that this key may take, part by part; inserts rows where there are none. */
  List<Object[]> choices(ForeignKey key) {
    List<Object[]> known = choices.get(key);
    if (known == null) {
      List<Column> columns =
          key.parentColumns().stream()
              .map(name -> column(schema.table(key.parent()), name))
              .toList();
      known = database.tuples(key.parent(), columns, MOST_CHOICES);
      if (known.isEmpty()) {
        fill(schema.table(key.parent()));
        known = database.tuples(key.parent(), columns, MOST_CHOICES);
      }
      if (known.isEmpty()) {
        throw new GameQueueException("table " + key.parent() + " has no row to refer to");
      }
      choices.put(key, known);
    }
    return known;
  }

  private void fill(TableFacts table) {
    if (!filling.add(table.name())) {
      throw new GameQueueException(
          "table %s needs a row that needs a row of %s".formatted(table.name(), table.name()));
    }
    for (int i = 1; i <= INSERTED; i++) {
      Map<String, Object> row = row(table, i);
      database.insert(
          table.name(),
          row.keySet().stream().map(name -> column(table, name)).toList(),
          List.copyOf(row.values()));
    }
    filling.remove(table.name());
    filled.add(table.name());
  }

  /** Only what must be given: columns with a default are left to it. */
  private Map<String, Object> row(TableFacts table, int number) {
    Map<String, Object> row = new LinkedHashMap<>();
    for (ForeignKey key : table.foreignKeys().values()) {
      boolean nullable = key.columns().stream().allMatch(name -> column(table, name).nullable());
      if (!nullable) {
        List<Object[]> of = choices(key);
        // By number, not by chance: the column may be UNIQUE.
        Object[] chosen = of.get(number % of.size());
        for (int i = 0; i < chosen.length; i++) {
          row.put(key.columns().get(i), chosen[i]);
        }
      }
    }
    for (ColumnFacts column : table.columns().values()) {
      boolean key =
          table.primaryKey().contains(column.name())
              || table.uniqueKeys().values().stream().anyMatch(k -> k.contains(column.name()));
      if (row.containsKey(column.name())
          || column.autoIncrement()
          || column.generated()
          || (column.optional() && !key)) {
        continue;
      }
      Values values = new Values(column);
      Object value = key && values.hasUnique() ? values.unique(number) : values.any(random);
      row.put(column.name(), Objects.requireNonNull(value));
    }
    return row;
  }

  private static Column column(TableFacts table, String name) {
    ColumnFacts facts = table.columns().get(name);
    @Nullable Column column = facts == null ? null : facts.column();
    if (column == null) {
      throw new GameQueueException(
          "%s.%s: a type that the demo makes no values for".formatted(table.name(), name));
    }
    return column;
  }
}
