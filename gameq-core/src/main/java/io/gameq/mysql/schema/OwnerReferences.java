package io.gameq.mysql.schema;

import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.ForeignKeyFacts;
import io.gameq.mysql.schema.SchemaSnapshot.IndexPart;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
import io.gameq.rows.types.ColumnType;
import io.gameq.rows.types.ColumnTypes;
import io.gameq.rows.types.UnmanageableException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds the columns that may name an owner: by foreign keys, and where there are none by names.
 * Used by one thread.
 */
final class OwnerReferences {
  private static final Set<ColumnType.Kind> KINDS =
      EnumSet.of(ColumnType.Kind.INTEGER, ColumnType.Kind.UNSIGNED_LONG, ColumnType.Kind.TEXT);

  /** Foreign keys lead by way of so many tables at most. */
  private static final int MOST_STEPS = 4;

  private static final int BY_FOREIGN_KEY = 4;
  private static final int BY_NAME = 4;
  private static final int FIRST_IN_KEY = 3;
  private static final int IN_KEY = 1;
  private static final int NAMED_AFTER_OWNER = 2;
  private static final int GOES_WITH_OWNER = 1;

  private final SchemaSnapshot schema;
  private final List<TableFacts> tables;
  private final Collection<String> asked;

  /** By the name of a column, in small letters, the table that most foreign keys of it lead to. */
  private final Map<String, String> usualTargets = new HashMap<>();

  /**
   * References among some tables.
   *
   * @param asked the only columns that count, in small letters; empty: all
   */
  OwnerReferences(SchemaSnapshot schema, List<TableFacts> tables, Collection<String> asked) {
    this.schema = schema;
    this.tables = tables;
    this.asked = asked;
    Map<String, Map<String, Integer>> votes = new TreeMap<>();
    for (TableFacts table : tables) {
      for (ColumnFacts column : table.columns()) {
        String target = byForeignKey(table.name(), column.name(), 0);
        if (target != null) {
          votes
              .computeIfAbsent(lower(column.name()), name -> new TreeMap<>())
              .merge(target, 1, Integer::sum);
        }
      }
    }
    votes.forEach((column, of) -> usualTargets.put(column, most(of)));
  }

  /** All of them, in the order of tables and columns. */
  List<OwnerReference> all() {
    List<OwnerReference> all = new ArrayList<>();
    for (TableFacts table : tables) {
      for (ColumnFacts column : table.columns()) {
        if (asked.isEmpty() || asked.contains(lower(column.name()))) {
          OwnerReference reference = reference(table, column);
          if (reference != null) {
            all.add(reference);
          }
        }
      }
    }
    return all;
  }

  private @Nullable OwnerReference reference(TableFacts table, ColumnFacts column) {
    if (!names(column)) {
      return null;
    }
    List<String> reasons = new ArrayList<>();
    int weight = BY_FOREIGN_KEY;
    String target = byForeignKey(table.name(), column.name(), 0);
    if (target != null) {
      reasons.add("foreign key to " + target);
    } else {
      weight = BY_NAME;
      target = byName(table, column);
      if (target != null) {
        reasons.add("named after table " + target);
      } else if (!asked.isEmpty()) {
        String stem = OwnerNames.stem(column.name());
        target =
            OwnerReference.NO_TABLE
                + OwnerNames.kind(stem == null ? OwnerNames.plain(column.name()) : stem);
      }
    }
    if (target == null || target.equals(table.name())) {
      return null;
    }
    if (!asked.isEmpty()) {
      weight += OwnerReference.ENOUGH;
      reasons.add("as asked for");
    }
    String owner =
        target.startsWith(OwnerReference.NO_TABLE)
            ? target.substring(1)
            : OwnerNames.singular(target);
    weight += signs(table, column, owner, reasons);
    return new OwnerReference(table.name(), column.name(), target, weight, reasons);
  }

  private int signs(TableFacts table, ColumnFacts column, String owner, List<String> reasons) {
    int weight = 0;
    List<String> key = table.primaryKey().stream().map(IndexPart::column).toList();
    int inKey = key.indexOf(column.name());
    if (inKey == 0) {
      weight += FIRST_IN_KEY;
      reasons.add(key.size() == 1 ? "the primary key" : "first in the primary key");
    } else if (inKey > 0) {
      weight += IN_KEY;
      reasons.add("in the primary key");
    }
    String stem = OwnerNames.stem(column.name());
    if (stem != null && (stem.equals(owner) || (stem.length() > 2 && owner.startsWith(stem)))) {
      weight += NAMED_AFTER_OWNER;
    }
    if (OwnerNames.isNamedAfter(table.name(), owner)) {
      weight += NAMED_AFTER_OWNER;
      reasons.add("the table is named after it");
    }
    if (schema.foreignKeys().stream()
        .anyMatch(
            of ->
                of.child().equals(table.name())
                    && of.columns().equals(List.of(column.name()))
                    && of.deleteRule().equals("CASCADE"))) {
      weight += GOES_WITH_OWNER;
      reasons.add("goes when that goes");
    }
    if (column.nullable()) {
      weight--;
      reasons.add("may be NULL");
    }
    return weight;
  }

  /** Whether its values can be the key of an owner id. */
  static boolean names(ColumnFacts column) {
    try {
      return !column.generated()
          && KINDS.contains(
              ColumnTypes.parse(column.columnType(), column.charset(), column.collation()).kind())
          && NewPrimaryKey.isComparable(column);
    } catch (UnmanageableException e) {
      return false;
    }
  }

  /** The table whose primary key a column holds, as foreign keys say. */
  private @Nullable String byForeignKey(String table, String column, int steps) {
    if (steps > MOST_STEPS) {
      return null;
    }
    for (ForeignKeyFacts key : schema.foreignKeys()) {
      int part = key.child().equals(table) ? key.columns().indexOf(column) : -1;
      TableFacts parent = part < 0 ? null : schema.table(key.parent());
      if (parent == null || parent.name().equals(table)) {
        continue;
      }
      String parentColumn = key.parentColumns().get(part);
      if (parentColumn.equals(onlyKey(parent))) {
        // A key that is a reference itself, as that of a table with one row for each player.
        String further = byForeignKey(parent.name(), parentColumn, steps + 1);
        return further == null ? parent.name() : further;
      }
      String further = byForeignKey(parent.name(), parentColumn, steps + 1);
      if (further != null) {
        return further;
      }
    }
    return null;
  }

  private @Nullable String byName(TableFacts table, ColumnFacts column) {
    String usual = usualTargets.get(lower(column.name()));
    if (usual != null && !usual.equals(table.name())) {
      return usual;
    }
    String stem = OwnerNames.stem(column.name());
    if (stem != null) {
      for (TableFacts other : tables) {
        String plain = OwnerNames.plain(other.name());
        if (onlyKey(other) != null
            && !other.equals(table)
            && (plain.equals(stem) || OwnerNames.singular(other.name()).equals(stem))) {
          return other.name();
        }
      }
    }
    return byNameOfKey(table, column);
  }

  /** As character_aura.guid, where characters has guid for its primary key. */
  private @Nullable String byNameOfKey(TableFacts table, ColumnFacts column) {
    if (column.name().equalsIgnoreCase("id")) {
      return null; // each table's own
    }
    String found = null;
    for (TableFacts other : tables) {
      String key = onlyKey(other);
      if (!other.equals(table)
          && key != null
          && key.equalsIgnoreCase(column.name())
          && OwnerNames.isNamedAfter(table.name(), OwnerNames.singular(other.name()))
          && (found == null || other.name().length() < found.length())) {
        found = other.name();
      }
    }
    return found;
  }

  /** The column that is a table's primary key by itself, if it can name owners. */
  static @Nullable String onlyKey(TableFacts table) {
    List<IndexPart> key = table.primaryKey();
    String name = key.size() == 1 && !key.get(0).prefix() ? key.get(0).column() : null;
    ColumnFacts column = name == null ? null : table.column(name);
    return column != null && names(column) ? column.name() : null;
  }

  static String most(Map<String, Integer> votes) {
    return Objects.requireNonNull(
        votes.entrySet().stream()
            .reduce((a, b) -> b.getValue() > a.getValue() ? b : a)
            .orElseThrow()
            .getKey());
  }

  static String lower(String name) {
    return name.toLowerCase(Locale.ROOT);
  }
}
