package io.gameq.writer.schema;

import io.gameq.GameQueueException;
import io.gameq.mysql.schema.SchemaSnapshot;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.ForeignKeyFacts;
import io.gameq.mysql.schema.SchemaSnapshot.IndexPart;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.rows.types.ColumnTypes;
import io.gameq.rows.types.ColumnTypes.UnmanageableException;
import io.gameq.writer.mysql.SchemaDatabase;
import io.gameq.writer.mysql.TableFix;
import io.gameq.writer.mysql.TableInspection;
import io.gameq.writer.schema.OwnerGuess.SchemaDraft.OwnerColumn;
import io.gameq.writer.schema.OwnerGuess.SchemaDraft.Proposal;
import io.gameq.writer.schema.OwnerGuess.SchemaDraft.SkippedTable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Guesses whose rows the tables of a database hold. Used by one thread.
 *
 * <p>First it finds the columns that may name an owner: by foreign keys, and where there are none
 * by names. Whoever plays is known by the name of a table ({@code players}) or of its key ({@code
 * account_id}). A name that all tables begin with ({@code mygame_}) is no part of their names here.
 *
 * <p>A table is one of owners when it is of those who play, or when the rows of others are kept
 * under its rows: those of two tables or more, or of one where its own rows belong to nobody. Where
 * there are players, its rows or those of its tables also have to lead to one of them: those of
 * shops and jobs do not, they are static. A table of owners belongs to itself; each other table to
 * the one of those for which most speaks.
 */
public final class OwnerGuess {
  private static final String OWN_TABLES = "gameq_";

  /** What stands for a table of owners where there is none. */
  private static final String NO_TABLE = "?";

  /** Foreign keys lead by way of so many tables at most. */
  private static final int MOST_STEPS = 4;

  private static final int BY_FOREIGN_KEY = 4;
  private static final int BY_NAME = 4;
  private static final int FIRST_IN_KEY = 3;
  private static final int IN_KEY = 1;
  private static final int NAMED_AFTER_OWNER = 2;
  private static final int GOES_WITH_OWNER = 1;

  /** A foreign key alone is no sign of an owner: who banned an address does not own it. */
  private static final int ENOUGH = 6;

  private final SchemaSnapshot schema;
  private final Set<String> asked;
  private final Map<String, TableFacts> tables = new TreeMap<>();

  /** By table: the column of its primary key that is unique by itself, if it can name owners. */
  private final Map<String, String> keys = new TreeMap<>();

  private final String prefix;
  private final Set<String> players;

  /** By the name of a column, in small letters, the table that most foreign keys of it lead to. */
  private final Map<String, String> usualTargets = new HashMap<>();

  /** Those of them that some table has first in its primary key: they name owners elsewhere too. */
  private final Set<String> namesOfOwners = new HashSet<>();

  private final List<OwnerReference> references = new ArrayList<>();

  /** The players, unless columns were asked for. */
  private final Set<String> playing;

  /** The tables whose rows lead to somebody who plays, by way of other tables too. */
  private final Set<String> played = new HashSet<>();

  private final Set<String> targets;
  private final Set<String> statics = new TreeSet<>();
  private final Map<String, List<OwnerReference>> assigned = new LinkedHashMap<>();
  private final List<OwnerColumn> owners = new ArrayList<>();
  private final List<Proposal> proposals = new ArrayList<>();
  private final Map<String, SkippedTable> left = new TreeMap<>();

  /**
   * A column that may name the owner of a table's rows; immutable.
   *
   * @param target the table whose rows are the owners; where there is none, {@code ?} and their
   *     kind
   * @param weight what speaks for it, counted
   * @param isClose whether the rows are kept under those of the target: by a foreign key, by the
   *     primary key, or by the table's name
   * @param reason what speaks for it, in words
   */
  private record OwnerReference(
      String table, String column, String target, int weight, boolean isClose, String reason) {
    boolean isSure() {
      return weight >= ENOUGH;
    }
  }

  private OwnerGuess(SchemaSnapshot schema, Set<String> asked) {
    this.schema = schema;
    this.asked = asked;
    for (TableFacts table : schema.tables().values()) {
      if (lower(table.name()).startsWith(OWN_TABLES)) {
        continue;
      }
      if (table.isBaseTable()) {
        tables.put(table.name(), table);
        onlyKey(table).ifPresent(column -> keys.put(table.name(), column));
      } else {
        leave(table.name(), "it is a " + lower(table.tableType()), null);
      }
    }
    prefix = NameRules.prefix(List.copyOf(tables.keySet()));
    players = findPlayers();
    playing = asked.isEmpty() ? players : Set.of();
    findUsualTargets();
    findReferences();
    findPlayed();
    targets =
        references.stream()
            .filter(of -> !asked.isEmpty() || of.isSure())
            .map(OwnerReference::target)
            .filter(target -> !asked.isEmpty() || mayOwn(target))
            .collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * Which tables of a database could be managed, and by which owner column; reads only.
   *
   * @param ownerColumns the only ones to choose from; empty: any
   * @throws GameQueueException when no table has one of these, or MySQL does not answer
   */
  public static SchemaDraft draft(SchemaDatabase database, List<String> ownerColumns) {
    OwnerGuess guess = of(database.snapshot(), ownerColumns);
    return new SchemaDraft(
        guess.owners,
        guess.proposals,
        database.inspect(guess.proposals.stream().map(Proposal::table).toList()),
        guess.left());
  }

  /**
   * The guess.
   *
   * @param ownerColumns the only columns to choose from; empty: any
   * @throws GameQueueException when no table has one of these
   */
  static OwnerGuess of(SchemaSnapshot schema, List<String> ownerColumns) {
    for (String name : ownerColumns) {
      if (schema.tables().values().stream().noneMatch(of -> of.column(name) != null)) {
        throw new GameQueueException("no table has a column '%s'".formatted(name));
      }
    }
    OwnerGuess guess =
        new OwnerGuess(
            schema, ownerColumns.stream().map(OwnerGuess::lower).collect(Collectors.toSet()));
    guess.assign();
    String usual = guess.mostFrequentReference();
    if (guess.assigned.isEmpty()
        && guess.statics.isEmpty()
        && ownerColumns.isEmpty()
        && usual != null) {
      // No table of owners: then the reference that most tables have names them.
      guess = new OwnerGuess(schema, Set.of(usual));
      guess.assign();
    }
    guess.conclude();
    return guess;
  }

  List<OwnerColumn> owners() {
    return owners;
  }

  List<Proposal> proposals() {
    return proposals;
  }

  List<SkippedTable> left() {
    return List.copyOf(left.values());
  }

  private void leave(String table, String reason, @Nullable TableSpec unsure) {
    left.put(table, new SkippedTable(table, reason, unsure));
  }

  // --- which tables and columns there are

  /** Whether a column's values can be the key of an owner id. */
  private static boolean canName(@Nullable ColumnFacts column) {
    try {
      return column != null
          && !column.generated()
          && ColumnTypes.parse(column.columnType(), column.charset(), column.collation())
                  .ownerKeyForm()
              != null
          && TableFix.isComparable(column);
    } catch (UnmanageableException e) {
      return false;
    }
  }

  private static Optional<String> onlyKey(TableFacts table) {
    List<IndexPart> key = table.primaryKey();
    return key.stream()
        .filter(part -> part.column() != null && !part.prefix())
        .map(IndexPart::column)
        .filter(name -> canName(table.column(name)))
        .filter(name -> key.size() == 1 || isUnique(table, name))
        .findFirst();
  }

  private static boolean isUnique(TableFacts table, String column) {
    return table.otherUniqueKeys().stream()
        .anyMatch(
            name ->
                table.indexParts().stream()
                    .filter(part -> part.index().equals(name))
                    .allMatch(part -> column.equals(part.column()) && !part.prefix()));
  }

  private static boolean isFirstInKey(TableFacts table, String column) {
    List<IndexPart> key = table.primaryKey();
    return !key.isEmpty() && column.equals(key.get(0).column());
  }

  private TableFacts facts(String table) {
    return Objects.requireNonNull(tables.get(table));
  }

  private String bare(String table) {
    return table.substring(prefix.length());
  }

  /** What a row of a table is: {@code player} of {@code players}. */
  private String one(String table) {
    if (table.startsWith(NO_TABLE)) {
      return table.substring(NO_TABLE.length());
    }
    String one = NameRules.singular(bare(table));
    String key = keys.get(table);
    String stem = key == null ? null : NameRules.stem(key);
    return players.contains(table) && !NameRules.arePlayers(one) && stem != null ? stem : one;
  }

  private Set<String> findPlayers() {
    Set<String> found = new TreeSet<>();
    Map<String, List<String>> byKey = new TreeMap<>();
    keys.forEach(
        (table, key) -> {
          String stem = NameRules.stem(key);
          if (NameRules.arePlayers(bare(table))) {
            found.add(table);
          } else if (stem != null
              && NameRules.arePlayers(stem)
              && Objects.requireNonNull(facts(table).column(key)).extraHas("auto_increment")
              && byForeignKey(table, key, 0) == null) {
            byKey.computeIfAbsent(stem, name -> new ArrayList<>()).add(table);
          }
        });
    List<String> named = found.stream().map(table -> NameRules.singular(bare(table))).toList();
    byKey.forEach(
        (stem, of) -> {
          if (of.size() == 1 && named.stream().noneMatch(name -> name.startsWith(stem))) {
            found.addAll(of);
          }
        });
    return found;
  }

  private void findUsualTargets() {
    Map<String, Map<String, Integer>> votes = new TreeMap<>();
    for (TableFacts table : tables.values()) {
      for (ColumnFacts column : table.columns()) {
        String target = byForeignKey(table.name(), column.name(), 0);
        if (target != null) {
          votes
              .computeIfAbsent(lower(column.name()), name -> new TreeMap<>())
              .merge(target, 1, Integer::sum);
          if (canName(column) && isFirstInKey(table, column.name())) {
            namesOfOwners.add(lower(column.name()));
          }
        }
      }
    }
    votes.forEach((column, of) -> usualTargets.put(column, most(of)));
  }

  /** The table whose primary key a column holds, as foreign keys say. */
  private @Nullable String byForeignKey(String table, String column, int steps) {
    for (ForeignKeyFacts key : schema.foreignKeys()) {
      int part = key.child().equals(table) ? key.columns().indexOf(column) : -1;
      TableFacts parent = part < 0 ? null : schema.table(key.parent());
      if (parent != null && !parent.name().equals(table) && steps <= MOST_STEPS) {
        String parentColumn = key.parentColumns().get(part);
        // A key may be a reference itself, as that of a table with one row for each player.
        String further = byForeignKey(parent.name(), parentColumn, steps + 1);
        if (further != null || parentColumn.equals(keys.get(parent.name()))) {
          return further == null ? parent.name() : further;
        }
      }
    }
    return null;
  }

  // --- which columns may name an owner

  /** In the order of tables and columns; then those of columns named owner. */
  private void findReferences() {
    for (TableFacts table : tables.values()) {
      for (ColumnFacts column : table.columns()) {
        if ((asked.isEmpty() || asked.contains(lower(column.name()))) && canName(column)) {
          addReference(table, column);
        }
      }
    }
    if (asked.isEmpty()) {
      addReferencesByTheWordOwner();
    }
  }

  private void addReference(TableFacts table, ColumnFacts column) {
    String parent = byForeignKey(table.name(), column.name(), 0);
    String target = parent != null ? parent : byName(table, column);
    List<String> reasons = new ArrayList<>();
    if (parent != null) {
      reasons.add("foreign key to " + parent);
    } else if (target != null) {
      reasons.add(
          (isNamedAsKey(column, target) ? "named as the key of " : "named after table ") + target);
    } else if (!asked.isEmpty()) {
      String stem = NameRules.stem(column.name());
      target = NO_TABLE + NameRules.kind(stem == null ? NameRules.plain(column.name()) : stem);
    }
    if (target == null || target.equals(table.name())) {
      return;
    }
    int weight = parent != null ? BY_FOREIGN_KEY : BY_NAME;
    if (!asked.isEmpty()) {
      weight += ENOUGH;
      reasons.add("as asked for");
    }
    weight += signs(table, column, target, parent != null, reasons);
    boolean isClose =
        parent != null
            || isFirstInKey(table, column.name())
            || NameRules.isNamedAfter(bare(table.name()), one(target));
    add(table, column, target, weight, isClose, reasons);
  }

  private void add(
      TableFacts table,
      ColumnFacts column,
      String target,
      int weight,
      boolean isClose,
      List<String> reasons) {
    references.add(
        new OwnerReference(
            table.name(), column.name(), target, weight, isClose, String.join(", ", reasons)));
  }

  /** Who plays and has most tables, where nothing else in a table names who plays. */
  private void addReferencesByTheWordOwner() {
    List<OwnerReference> toPlayers =
        references.stream().filter(of -> of.isSure() && players.contains(of.target())).toList();
    Set<String> settled =
        toPlayers.stream()
            .map(OwnerReference::table)
            .collect(Collectors.toCollection(HashSet::new));
    for (TableFacts table : tables.values()) {
      for (ColumnFacts column : table.columns()) {
        Map<String, Integer> candidates = new TreeMap<>();
        players.stream()
            .filter(player -> !player.equals(table.name()) && isOfTypeOfKey(column, player))
            .forEach(player -> candidates.put(player, 0));
        toPlayers.forEach(of -> candidates.computeIfPresent(of.target(), (to, n) -> n + 1));
        if (NameRules.isOwner(column.name())
            && canName(column)
            && byForeignKey(table.name(), column.name(), 0) == null
            && !candidates.isEmpty()
            && settled.add(table.name())) {
          String target = most(candidates);
          List<String> reasons = new ArrayList<>();
          reasons.add("its name, and the type of the key of " + target);
          int weight = BY_NAME + NAMED_AFTER_OWNER + signs(table, column, target, false, reasons);
          add(table, column, target, weight, false, reasons);
        }
      }
    }
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
    String owner = one(target);
    String stem = NameRules.stem(column.name());
    boolean isPlayer = players.contains(target);
    boolean isNamed =
        (stem != null && (stem.equals(owner) || (stem.length() > 2 && owner.startsWith(stem))))
            || ((isPlayer || foreignKey) && isNamedAsKey(column, target))
            || (!foreignKey && namesOfOwners.contains(lower(column.name())));
    weight += isNamed ? NAMED_AFTER_OWNER : 0;
    if (NameRules.isNamedAfter(bare(table.name()), owner)) {
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
      weight -= isPlayer && (isNamed || NameRules.isOwner(column.name())) ? 0 : 1;
      reasons.add("may be NULL");
    }
    return weight;
  }

  private @Nullable String byName(TableFacts table, ColumnFacts column) {
    String usual = usualTargets.get(lower(column.name()));
    if (usual != null && !usual.equals(table.name())) {
      return usual;
    }
    String stem = NameRules.stem(column.name());
    return keys.keySet().stream()
        .filter(other -> !other.equals(table.name()) && isOfTypeOfKey(column, other))
        .filter(other -> isNamed(other, stem) || isTextOfPlayer(column, other))
        .findFirst()
        .orElseGet(() -> byNameOfKey(table, column));
  }

  private boolean isNamed(String table, @Nullable String stem) {
    return NameRules.plain(bare(table)).equals(stem) || one(table).equals(stem);
  }

  /** As citizenid, by which players are known to all tables; numbers may be each table's own. */
  private boolean isTextOfPlayer(ColumnFacts column, String table) {
    return column.charset() != null && players.contains(table) && isNamedAsKey(column, table);
  }

  private boolean isNamedAsKey(ColumnFacts column, String target) {
    String key = keys.get(target);
    return key != null
        && key.equalsIgnoreCase(column.name())
        && !Set.of("id", "name").contains(lower(key)); // each table may have these
  }

  private boolean isOfTypeOfKey(ColumnFacts column, String table) {
    ColumnFacts key = keys.containsKey(table) ? facts(table).column(keys.get(table)) : null;
    return key != null && (column.charset() == null) == (key.charset() == null);
  }

  /** As character_aura.guid, where characters has guid for its primary key. */
  private @Nullable String byNameOfKey(TableFacts table, ColumnFacts column) {
    return keys.entrySet().stream()
        .filter(key -> key.getValue().equalsIgnoreCase(column.name()))
        .map(Map.Entry::getKey)
        .filter(other -> !other.equals(table.name()))
        .filter(other -> NameRules.isNamedAfter(bare(table.name()), one(other)))
        .filter(other -> !column.name().equalsIgnoreCase("id")) // each table's own
        .min(Comparator.comparingInt(String::length))
        .orElse(null);
  }

  // --- who are owners

  private Stream<OwnerReference> references(String table) {
    return references.stream().filter(of -> of.table().equals(table));
  }

  private Set<String> tablesOf(String target, Predicate<OwnerReference> some) {
    return references.stream()
        .filter(of -> of.target().equals(target) && some.test(of))
        .map(OwnerReference::table)
        .collect(Collectors.toSet());
  }

  private void findPlayed() {
    if (playing.isEmpty()) {
      return;
    }
    played.addAll(playing);
    for (TableFacts table : tables.values()) {
      if (NameRules.isGroup(one(table.name()))
          || table.columns().stream().anyMatch(its -> NameRules.isSomebody(its.name()))) {
        played.add(table.name());
      }
    }
    boolean more = true;
    while (more) {
      more = false;
      for (OwnerReference of : references) {
        more |= played.contains(of.target()) && played.add(of.table());
      }
    }
  }

  private boolean mayOwn(String target) {
    int under = tablesOf(target, of -> of.isSure() && (of.isClose() || playing.isEmpty())).size();
    return playing.contains(target)
        || under > 1
        || (under == 1 && belongsTo(target).isEmpty())
        || (!Collections.disjoint(tablesOf(target, OwnerReference::isSure), playing)
            && Collections.disjoint(belongsTo(target), playing));
  }

  /** Whose the rows of a table surely are; an owner column does not say that of tables' owners. */
  private Collection<String> belongsTo(String table) {
    return references(table)
        .filter(of -> of.isSure() && !NameRules.isOwner(of.column()))
        .map(OwnerReference::target)
        .toList();
  }

  private @Nullable String mostFrequentReference() {
    Map<String, Integer> votes = new TreeMap<>();
    for (TableFacts table : tables.values()) {
      for (ColumnFacts column : table.columns()) {
        if (canName(column)
            && lower(column.name()).endsWith("_id")
            && !column.name().equals(keys.get(table.name()))) {
          votes.merge(lower(column.name()), 1, Integer::sum);
        }
      }
    }
    return votes.isEmpty() ? null : most(votes);
  }

  /** Gives each table to an owner; a table of owners to whom none goes is none. */
  private void assign() {
    boolean settled = false;
    while (!settled) {
      assigned.clear();
      for (String table : tables.keySet()) {
        OwnerReference best = targets.contains(table) ? null : best(table);
        if (best != null && best.isSure()) {
          assigned.computeIfAbsent(best.target(), target -> new ArrayList<>()).add(best);
        }
      }
      Set<String> ofNobody = new HashSet<>();
      assigned.forEach(
          (target, its) -> {
            if (!playing.isEmpty()
                && !played.contains(target)
                && its.stream().noneMatch(of -> played.contains(of.table()))) {
              ofNobody.add(target);
            }
          });
      statics.addAll(ofNobody);
      settled =
          ofNobody.isEmpty() ? !targets.retainAll(assigned.keySet()) : !targets.removeAll(ofNobody);
    }
  }

  private @Nullable OwnerReference best(String table) {
    boolean ofPlayer =
        references(table).anyMatch(of -> of.isSure() && playing.contains(of.target()));
    return references(table)
        .filter(of -> targets.contains(of.target()))
        // What a player has of something static, as a log of quests, is kept under the player.
        .filter(
            of ->
                !ofPlayer
                    || played.contains(of.target())
                    || isFirstInKey(facts(table), of.column()))
        .min(
            Comparator.comparingInt((OwnerReference of) -> -of.weight())
                .thenComparing(of -> !isOfPlayersOfPlayers(of.target()))
                .thenComparingInt(of -> -tablesOf(of.target(), any -> true).size()))
        .orElse(null);
  }

  /** As characters, which accounts have: the more specific of two. */
  private boolean isOfPlayersOfPlayers(String target) {
    return playing.contains(target)
        && references(target).anyMatch(of -> playing.contains(of.target()));
  }

  // --- what is proposed

  private void conclude() {
    Map<String, String> kinds = new TreeMap<>();
    assigned.entrySet().stream()
        .sorted(
            Comparator.comparingInt(
                    (Map.Entry<String, List<OwnerReference>> of) -> -of.getValue().size())
                .thenComparing(Map.Entry::getKey))
        .forEach(
            of -> {
              String kind = NameRules.kind(one(of.getKey()));
              if (kinds.containsValue(kind)) {
                kind = NameRules.kind(NameRules.plain(of.getKey()) + "_row");
              }
              kinds.put(of.getKey(), kind);
              propose(of.getKey(), kind, of.getValue());
            });
    Set<String> proposed =
        proposals.stream().map(of -> of.table().name()).collect(Collectors.toSet());
    tables.values().stream()
        .filter(table -> !proposed.contains(table.name()))
        .forEach(table -> leaveOut(table.name(), kinds));
  }

  private void propose(String target, String kind, List<OwnerReference> its) {
    String root = tables.containsKey(target) ? target : null;
    String key = keys.get(target);
    owners.add(new OwnerColumn(kind, root, key));
    if (root != null && key != null) {
      proposals.add(
          new Proposal(
              new TableSpec(root, kind, key),
              "its rows are the owners of those of %s %s"
                  .formatted(its.size(), its.size() == 1 ? "table" : "tables"),
              List.of()));
    }
    for (OwnerReference of : its) {
      List<String> others =
          references(of.table())
              .filter(other -> !other.equals(of) && targets.contains(other.target()))
              .map(other -> "%s (%s)".formatted(other.column(), other.reason()))
              .toList();
      proposals.add(
          new Proposal(new TableSpec(of.table(), kind, of.column()), of.reason(), others));
    }
  }

  private void leaveOut(String table, Map<String, String> kinds) {
    OwnerReference best = best(table);
    if (best != null) {
      leave(
          table,
          "not sure that %s names its owner: %s".formatted(best.column(), best.reason()),
          new TableSpec(table, Objects.requireNonNull(kinds.get(best.target())), best.column()));
      return;
    }
    if (statics.contains(table)) {
      leaveStatic(table, table, keys.get(table));
      return;
    }
    for (OwnerReference of : references(table).toList()) {
      if (of.isSure() && statics.contains(of.target())) {
        leaveStatic(table, of.target(), of.column());
        return;
      }
      for (Proposal parent : proposals) {
        if (parent.table().name().equals(of.target())) {
          leave(
              table,
              ("its %s refers to %s, whose rows are those of a %s: no column of its own names that"
                      + " owner")
                  .formatted(of.column(), of.target(), parent.table().ownerKind()),
              null);
          return;
        }
      }
    }
    leave(table, "no column names an owner", null);
  }

  private void leaveStatic(String table, String target, @Nullable String column) {
    leave(
        table,
        "static, as it looks: no row of %s, nor of what belongs to it, leads to a player"
            .formatted(target),
        column == null ? null : new TableSpec(table, NameRules.kind(one(target)), column));
  }

  private static String most(Map<String, Integer> votes) {
    return Collections.max(votes.entrySet(), Map.Entry.comparingByValue()).getKey();
  }

  private static String lower(String name) {
    return name.toLowerCase(Locale.ROOT);
  }

  /** What names of tables and columns tell of owners. Stateless. */
  private static final class NameRules {
    /** {@code player_id}, {@code playerId}, {@code char_guid}, {@code guildid}. */
    private static final Pattern REFERRING =
        Pattern.compile("(.+?)_?(?:id|guid|uid|uuid)", Pattern.CASE_INSENSITIVE);

    /** Who plays: owners also where they refer to others themselves, as a player to a town. */
    private static final Set<String> PLAYERS =
        Set.of("account", "avatar", "char", "character", "hero", "player", "user");

    /** What players found and join: its rows are theirs, though no column may say so. */
    private static final Set<String> GROUPS =
        Set.copyOf(
            List.of(
                ("alliance clan club company corporation crew faction gang guild kingdom league"
                        + " party squad team tribe")
                    .split(" ", -1)));

    /** Of fewer tables, a common beginning may be what they are about: guild_member, guild_rank. */
    private static final int FEWEST_WITH_PREFIX = 3;

    private static final int MOST_OF_KIND = 32;

    /** {@code player} of {@code player_id}; null when the name does not end as a reference does. */
    static @Nullable String stem(String column) {
      Matcher referring = REFERRING.matcher(column);
      return referring.matches() ? plain(referring.group(1)) : null;
    }

    /** Whether a column is named {@code owner}, or {@code ownerid}. */
    static boolean isOwner(String column) {
      return is(column, "owner");
    }

    /** Whether a column is about a person, by key or by name: an owner or a {@code leader}. */
    static boolean isSomebody(String column) {
      return isOwner(column) || is(column, "leader");
    }

    private static boolean is(String column, String word) {
      return column.equalsIgnoreCase(word) || word.equals(stem(column));
    }

    /** Whether rows of this name, in the singular, are groups of players. */
    static boolean isGroup(String one) {
      return GROUPS.contains(one);
    }

    /** What all of several tables begin with, up to an underscore: {@code mygame_}; or nothing. */
    static String prefix(List<String> tables) {
      if (tables.size() < FEWEST_WITH_PREFIX) {
        return "";
      }
      String common = tables.get(0);
      for (String table : tables) {
        while (!table.startsWith(common)) {
          common = common.substring(0, common.length() - 1);
        }
      }
      return common.substring(0, common.lastIndexOf('_') + 1);
    }

    /** One of what a table is named after: {@code guild_war} of {@code guild_wars}. */
    static String singular(String table) {
      String name = plain(table);
      if (name.endsWith("ies")) {
        return name.substring(0, name.length() - 3) + "y";
      }
      if (name.matches(".*(ss|x|ch|sh|o)es")) {
        return name.substring(0, name.length() - 2);
      }
      return name.matches(".*[^sui]s") ? name.substring(0, name.length() - 1) : name;
    }

    /** Whether a table is named as one of those who play. */
    static boolean arePlayers(String table) {
      return PLAYERS.contains(singular(table));
    }

    /** Whether a table is named after one of these, as {@code player_items} after player. */
    static boolean isNamedAfter(String table, String one) {
      String name = plain(table);
      return name.startsWith(one) && !name.equals(one);
    }

    /** In small letters with underscores: {@code playerItems} as {@code player_items}. */
    static String plain(String name) {
      return lower(name.replaceAll("([a-z0-9])([A-Z])", "$1_$2"));
    }

    /** A kind of owners, as their ids may have it. */
    static String kind(String name) {
      String kind = name.replaceAll("[^a-z0-9_]", "_").replaceAll("^[^a-z]+", "");
      return kind.isEmpty() ? "owner" : kind.substring(0, Math.min(MOST_OF_KIND, kind.length()));
    }
  }

  /**
   * Which tables of a database could be managed, and whose rows they hold: a guess, to be read by
   * somebody; immutable.
   *
   * @param owners the kinds of owners, those with most tables first
   * @param proposals table by table, those of one kind of owner together, its own table first
   * @param tables the proposed ones, in the same order
   * @param left what is not proposed
   */
  public record SchemaDraft(
      List<OwnerColumn> owners,
      List<Proposal> proposals,
      List<TableInspection> tables,
      List<SkippedTable> left) {
    /**
     * A kind of owners.
     *
     * @param kind for example {@code player}
     * @param table the one whose rows are the owners themselves, as {@code players}; null: none
     * @param key its primary key
     */
    public record OwnerColumn(String kind, @Nullable String table, @Nullable String key) {}

    /**
     * A table and its owner column.
     *
     * @param reason why that column
     * @param others other columns that might be meant, each with why
     */
    public record Proposal(TableSpec table, String reason, List<String> others) {}

    /**
     * A table that is not proposed.
     *
     * @param unsure what it would be proposed as, were the guess better founded; null: nothing
     */
    public record SkippedTable(String table, String reason, @Nullable TableSpec unsure) {}
  }
}
