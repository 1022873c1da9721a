package io.gameq.writer.schema;

import io.gameq.mysql.schema.SchemaSnapshot;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.ForeignKeyFacts;
import io.gameq.mysql.schema.SchemaSnapshot.IndexPart;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
import io.gameq.rows.types.ColumnType;
import io.gameq.rows.types.ColumnTypes;
import io.gameq.rows.types.ColumnTypes.UnmanageableException;
import io.gameq.writer.mysql.TableFix;
import io.gameq.writer.schema.OwnerGuess.OwnerReference;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Finds the columns that may name an owner: by foreign keys, and where there are none by names.
 * Used by one thread.
 *
 * <p>Whoever plays is known by the name of a table ({@code players}) or of its key ({@code
 * account_id}). A name that all tables begin with ({@code mygame_}) is no part of their names here.
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

  /** Those of them that some table has first in its primary key: they name owners elsewhere too. */
  private final Set<String> namesOfOwners = new HashSet<>();

  private final String prefix;
  private final Set<String> players;

  /**
   * References among some tables.
   *
   * @param asked the only columns that count, in small letters; empty: all
   */
  OwnerReferences(SchemaSnapshot schema, List<TableFacts> tables, Collection<String> asked) {
    this.schema = schema;
    this.tables = tables;
    this.asked = asked;
    prefix = OwnerNames.prefix(tables.stream().map(TableFacts::name).toList());
    players = findPlayers();
    Map<String, Map<String, Integer>> votes = new TreeMap<>();
    for (TableFacts table : tables) {
      for (ColumnFacts column : table.columns()) {
        String target = byForeignKey(table.name(), column.name(), 0);
        if (target != null) {
          votes
              .computeIfAbsent(lower(column.name()), name -> new TreeMap<>())
              .merge(target, 1, Integer::sum);
          if (names(column) && isFirstInKey(table, column.name())) {
            namesOfOwners.add(lower(column.name()));
          }
        }
      }
    }
    votes.forEach((column, of) -> usualTargets.put(column, most(of)));
  }

  /** The tables of those who play. */
  Set<String> players() {
    return players;
  }

  /** What a row of a table is: {@code player} of {@code players}. */
  String one(String table) {
    String one = OwnerNames.singular(bare(table));
    if (!players.contains(table) || OwnerNames.arePlayers(one)) {
      return one;
    }
    String key = onlyKey(facts(table));
    String stem = key == null ? null : OwnerNames.stem(key);
    return stem == null ? one : stem;
  }

  private String bare(String table) {
    return table.substring(prefix.length());
  }

  private TableFacts facts(String table) {
    return Objects.requireNonNull(schema.table(table));
  }

  private Set<String> findPlayers() {
    Set<String> found = new TreeSet<>();
    Map<String, List<String>> byKey = new TreeMap<>();
    for (TableFacts table : tables) {
      String key = onlyKey(table);
      if (key == null) {
        continue;
      }
      String stem = OwnerNames.stem(key);
      if (OwnerNames.arePlayers(bare(table.name()))) {
        found.add(table.name());
      } else if (stem != null
          && OwnerNames.arePlayers(stem)
          && Objects.requireNonNull(table.column(key)).extraHas("auto_increment")
          && byForeignKey(table.name(), key, 0) == null) {
        byKey.computeIfAbsent(stem, name -> new ArrayList<>()).add(table.name());
      }
    }
    Set<String> named = new HashSet<>();
    found.forEach(table -> named.add(OwnerNames.singular(bare(table))));
    byKey.forEach(
        (stem, of) -> {
          if (of.size() == 1 && named.stream().noneMatch(name -> name.startsWith(stem))) {
            found.addAll(of);
          }
        });
    return found;
  }

  /** All of them, in the order of tables and columns; then those of columns named owner. */
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
    if (asked.isEmpty()) {
      all.addAll(byTheWordOwner(all));
    }
    return all;
  }

  /** Who plays and has most tables, where nothing else in a table names who plays. */
  private List<OwnerReference> byTheWordOwner(List<OwnerReference> all) {
    Map<String, Integer> tablesOf = new TreeMap<>();
    Set<String> settled = new HashSet<>();
    for (OwnerReference of : all) {
      if (of.isSure() && players.contains(of.target())) {
        tablesOf.merge(of.target(), 1, Integer::sum);
        settled.add(of.table());
      }
    }
    List<OwnerReference> found = new ArrayList<>();
    for (TableFacts table : tables) {
      for (ColumnFacts column : table.columns()) {
        Map<String, Integer> candidates = new TreeMap<>();
        players.stream()
            .filter(player -> !player.equals(table.name()) && isOfTypeOfKey(column, player))
            .forEach(player -> candidates.put(player, tablesOf.getOrDefault(player, 0)));
        if (OwnerNames.isOwner(column.name())
            && names(column)
            && byForeignKey(table.name(), column.name(), 0) == null
            && !candidates.isEmpty()
            && settled.add(table.name())) {
          String target = most(candidates);
          List<String> reasons = new ArrayList<>();
          reasons.add("its name, and the type of the key of " + target);
          int weight = BY_NAME + NAMED_AFTER_OWNER + signs(table, column, target, false, reasons);
          found.add(
              new OwnerReference(table.name(), column.name(), target, weight, false, reasons));
        }
      }
    }
    return found;
  }

  private @Nullable OwnerReference reference(TableFacts table, ColumnFacts column) {
    if (!names(column)) {
      return null;
    }
    List<String> reasons = new ArrayList<>();
    String target = byForeignKey(table.name(), column.name(), 0);
    boolean foreignKey = target != null;
    if (target != null) {
      reasons.add("foreign key to " + target);
    } else {
      target = byName(table, column);
      if (target != null) {
        reasons.add(
            (isNamedAsKey(column, target) ? "named as the key of " : "named after table ")
                + target);
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
    int weight = foreignKey ? BY_FOREIGN_KEY : BY_NAME;
    if (!asked.isEmpty()) {
      weight += OwnerReference.ENOUGH;
      reasons.add("as asked for");
    }
    weight += signs(table, column, target, foreignKey, reasons);
    boolean close =
        foreignKey
            || isFirstInKey(table, column.name())
            || OwnerNames.isNamedAfter(bare(table.name()), owner(target));
    return new OwnerReference(table.name(), column.name(), target, weight, close, reasons);
  }

  private String owner(String target) {
    return target.startsWith(OwnerReference.NO_TABLE) ? target.substring(1) : one(target);
  }

  static boolean isFirstInKey(TableFacts table, String column) {
    List<IndexPart> key = table.primaryKey();
    return !key.isEmpty() && column.equals(key.get(0).column());
  }

  private int signs(
      TableFacts table,
      ColumnFacts column,
      String target,
      boolean foreignKey,
      List<String> reasons) {
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
    String owner = owner(target);
    String stem = OwnerNames.stem(column.name());
    boolean player = players.contains(target);
    boolean named =
        (stem != null && (stem.equals(owner) || (stem.length() > 2 && owner.startsWith(stem))))
            || ((player || foreignKey) && isNamedAsKey(column, target))
            || (!foreignKey && namesOfOwners.contains(lower(column.name())));
    if (named) {
      weight += NAMED_AFTER_OWNER;
    }
    if (OwnerNames.isNamedAfter(bare(table.name()), owner)) {
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
      // What names a player does so where it may be NULL: games leave NOT NULL out.
      weight -= player && (named || OwnerNames.isOwner(column.name())) ? 0 : 1;
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
          && TableFix.isComparable(column);
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
    for (TableFacts other : tables) {
      if (!other.equals(table)
          && (isNamed(other, stem) || isTextOfPlayer(column, other.name()))
          && isOfTypeOfKey(column, other.name())) {
        return other.name();
      }
    }
    return byNameOfKey(table, column);
  }

  private boolean isNamed(TableFacts table, @Nullable String stem) {
    return stem != null
        && (OwnerNames.plain(bare(table.name())).equals(stem) || one(table.name()).equals(stem));
  }

  /** As citizenid, by which players are known to all tables; numbers may be each table's own. */
  private boolean isTextOfPlayer(ColumnFacts column, String table) {
    return column.charset() != null && players.contains(table) && isNamedAsKey(column, table);
  }

  private boolean isNamedAsKey(ColumnFacts column, String target) {
    String key = target.startsWith(OwnerReference.NO_TABLE) ? null : onlyKey(facts(target));
    return key != null && key.equalsIgnoreCase(column.name()) && !OwnerNames.isOfEachTable(key);
  }

  private boolean isOfTypeOfKey(ColumnFacts column, String table) {
    String key = onlyKey(facts(table));
    return key != null
        && (column.charset() == null)
            == (Objects.requireNonNull(facts(table).column(key)).charset() == null);
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
          && OwnerNames.isNamedAfter(bare(table.name()), one(other.name()))
          && (found == null || other.name().length() < found.length())) {
        found = other.name();
      }
    }
    return found;
  }

  /** The column of the primary key that is unique by itself, if it can name owners. */
  static @Nullable String onlyKey(TableFacts table) {
    List<IndexPart> key = table.primaryKey();
    for (IndexPart part : key) {
      ColumnFacts column = part.column() == null ? null : table.column(part.column());
      if (column != null
          && names(column)
          && !part.prefix()
          && (key.size() == 1 || isUnique(table, column.name()))) {
        return column.name();
      }
    }
    return null;
  }

  private static boolean isUnique(TableFacts table, String column) {
    return table.otherUniqueKeys().stream()
        .anyMatch(
            name ->
                table.indexParts().stream()
                    .filter(part -> part.index().equals(name))
                    .allMatch(part -> column.equals(part.column()) && !part.prefix()));
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
