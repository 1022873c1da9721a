package io.gameq.lab.demo.generated;

import io.gameq.lab.mysql.SchemaFacts.ForeignKey;
import io.gameq.lab.mysql.SchemaFacts.TableFacts;
import io.gameq.rows.Table;
import io.gameq.writer.schema.OwnerGuess.SchemaDraft;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Makes rows of one managed table that MySQL will take. Thread-safe. */
final class RowGenerator {
  /** How many rows of one owner the key tells apart, where the owner is part of it. */
  private static final int KEYS_OF_OWNER = 40;

  private static final int MOST_CHANGED = 3;

  private final Table table;
  private final List<Values> values = new ArrayList<>();
  private final Map<ForeignKey, List<Object[]>> parents = new LinkedHashMap<>();
  private final AtomicLong numbers;
  private final boolean[] unique;
  private final boolean[] small;
  private final boolean[] referring;
  private final int[] plain;
  private final boolean ownerInKey;
  private boolean oneForOwner;

  /** What stands around a table. */
  record Surroundings(
      TableFacts facts, SchemaDraft.OwnerColumn owner, AtomicLong numbers, ParentRows parents) {}

  /**
   * A generator.
   *
   * @throws Unfit when the demo cannot make rows that fit; gameq itself could manage the table
   */
  RowGenerator(Table table, Surroundings around) {
    this.table = table;
    this.numbers = around.numbers();
    int width = table.columns().size();
    unique = new boolean[width];
    small = new boolean[width];
    referring = new boolean[width];
    for (var column : table.columns()) {
      values.add(new Values(Objects.requireNonNull(around.facts().columns().get(column.name()))));
    }
    referring[table.ownerIndex()] = true;
    around.facts().foreignKeys().values().forEach(key -> foreignKey(key, around));
    ownerInKey = around.facts().primaryKey().contains(table.ownerColumn().name());
    key(around.facts());
    around
        .facts()
        .uniqueKeys()
        .forEach(
            (name, columns) -> {
              if (!columns.containsAll(around.facts().primaryKey())) {
                uniqueKey(name, columns);
              }
            });
    List<Integer> rest = new ArrayList<>();
    for (int i = 0; i < width; i++) {
      if (!unique[i]
          && !small[i]
          && !referring[i]
          && !around.facts().primaryKey().contains(table.columns().get(i).name())) {
        rest.add(i);
      }
    }
    plain = rest.stream().mapToInt(Integer::intValue).toArray();
  }

  /** The demo cannot make rows of a table. */
  static final class Unfit extends RuntimeException {
    private static final long serialVersionUID = 1;

    Unfit(String reason) {
      super(reason);
    }
  }

  private void foreignKey(ForeignKey key, Surroundings around) {
    List<Integer> indexes = key.columns().stream().map(table::indexOf).toList();
    boolean root = key.parent().equals(around.owner().table());
    if (indexes.equals(List.of(table.ownerIndex())) && root) {
      return;
    }
    if (indexes.contains(table.ownerIndex())) {
      throw new Unfit("the owner column is part of a foreign key to " + key.parent());
    }
    indexes.forEach(index -> referring[index] = true);
    if (indexes.stream().allMatch(i -> table.columns().get(i).nullable())) {
      return; // stays NULL
    }
    if (key.parent().equals(table.name())) {
      throw new Unfit("it refers to itself");
    }
    // Also for the root: the rows that were there before the demo never go.
    parents.put(key, around.parents().choices(key));
  }

  private void key(TableFacts facts) {
    boolean apart = false;
    for (String name : facts.primaryKey()) {
      int index = table.indexOf(name);
      if (referring[index]) {
        continue;
      }
      if (ownerInKey) {
        small[index] = values.get(index).small(0) != null;
        if (!small[index]) {
          throw new Unfit("key column " + name + " takes no small numbers");
        }
      } else if (!apart && values.get(index).hasUnique()) {
        unique[index] = true;
        apart = true;
      }
    }
    if (!ownerInKey && !apart) {
      throw new Unfit("no key column takes a unique number");
    }
    oneForOwner = facts.primaryKey().equals(List.of(table.ownerColumn().name()));
  }

  private void uniqueKey(String name, List<String> columns) {
    List<Integer> indexes = columns.stream().map(table::indexOf).toList();
    if (indexes.stream().anyMatch(i -> unique[i])) {
      return;
    }
    for (int index : indexes) {
      if (!referring[index] && !small[index] && values.get(index).hasUnique()) {
        unique[index] = true;
        return;
      }
    }
    throw new Unfit("UNIQUE key " + name + " has no column for a unique number");
  }

  Table table() {
    return table;
  }

  /** True when a row can change its owner and keep its key. */
  boolean moves() {
    return !ownerInKey;
  }

  /** True when an owner has one row at most. */
  boolean oneForOwner() {
    return oneForOwner;
  }

  /** A new row of an owner; its key may be that of one it has, which it then replaces. */
  @Nullable Object[] row(Object owner, Random random) {
    @Nullable Object[] row = new @Nullable Object[values.size()];
    for (int i = 0; i < row.length; i++) {
      Values of = values.get(i);
      if (unique[i]) {
        row[i] = of.unique(numbers.incrementAndGet());
      } else if (small[i]) {
        row[i] = of.small(random.nextInt(KEYS_OF_OWNER));
      } else if (!referring[i]) {
        row[i] = of.any(random);
      }
    }
    row[table.ownerIndex()] = owner;
    parents.forEach(
        (key, choices) -> {
          Object[] chosen = choices.get(random.nextInt(choices.size()));
          for (int i = 0; i < chosen.length; i++) {
            row[table.indexOf(key.columns().get(i))] = chosen[i];
          }
        });
    return row;
  }

  /** The same row with up to three other values. */
  @Nullable Object[] changed(@Nullable Object[] row, Random random) {
    @Nullable Object[] changed = row.clone();
    for (int i = 0; i < MOST_CHANGED && plain.length > 0; i++) {
      int index = plain[random.nextInt(plain.length)];
      changed[index] = values.get(index).any(random);
    }
    return changed;
  }

  /** The same row at another owner. */
  @Nullable Object[] ownedBy(@Nullable Object[] row, Object owner) {
    @Nullable Object[] moved = row.clone();
    moved[table.ownerIndex()] = owner;
    return moved;
  }
}
