package io.gameq.writer.schema;

import io.gameq.GameQueueException;
import io.gameq.mysql.schema.CatalogReader.TableSpec;
import io.gameq.mysql.schema.SchemaSnapshot;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
import io.gameq.writer.mysql.SchemaDatabase;
import io.gameq.writer.mysql.TableInspection;
import io.gameq.writer.schema.OwnerGuess.SchemaDraft.LeftOut;
import io.gameq.writer.schema.OwnerGuess.SchemaDraft.Owner;
import io.gameq.writer.schema.OwnerGuess.SchemaDraft.Proposal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Guesses whose rows the tables of a database hold. Used by one thread.
 *
 * <p>A table is one of owners when it is of those who play ({@link OwnerReferences#players}), or
 * when the rows of others are kept under its rows: those of two tables or more, or of one where its
 * own rows belong to nobody. Where there are players, its rows or those of its tables also have to
 * lead to one of them: those of shops and jobs do not, they are static. A table of owners belongs
 * to itself; each other table to the one of those for which most speaks.
 */
public final class OwnerGuess {
  private static final String OWN_TABLES = "gameq_";

  private final List<TableFacts> tables;
  private final List<LeftOut> left = new ArrayList<>();
  private final Map<String, List<OwnerReference>> references = new TreeMap<>();
  private final Set<String> targets = new TreeSet<>();
  private final Set<String> statics = new TreeSet<>();
  private final OwnerReferences columns;
  private final Set<String> players;
  private final Set<String> played;
  private final Map<String, List<OwnerReference>> assigned = new LinkedHashMap<>();
  private final List<Owner> owners = new ArrayList<>();
  private final List<Proposal> proposals = new ArrayList<>();

  private OwnerGuess(SchemaSnapshot schema, Set<String> asked) {
    List<TableFacts> all =
        schema.tables().values().stream()
            .filter(of -> !OwnerReferences.lower(of.name()).startsWith(OWN_TABLES))
            .sorted(Comparator.comparing(TableFacts::name))
            .toList();
    tables = all.stream().filter(TableFacts::isBaseTable).toList();
    all.stream()
        .filter(of -> !of.isBaseTable())
        .forEach(
            of ->
                left.add(
                    new LeftOut(
                        of.name(), "it is a " + of.tableType().toLowerCase(Locale.ROOT), null)));
    columns = new OwnerReferences(schema, tables, asked);
    for (OwnerReference of : columns.all()) {
      references.computeIfAbsent(of.table(), table -> new ArrayList<>()).add(of);
    }
    players = asked.isEmpty() ? columns.players() : Set.of();
    played = players.isEmpty() ? Set.of() : played();
    targets.addAll(asked.isEmpty() ? eligible() : all(references));
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
    Set<String> asked =
        ownerColumns.stream()
            .map(OwnerReferences::lower)
            .collect(Collectors.toCollection(TreeSet::new));
    for (String name : ownerColumns) {
      if (schema.tables().values().stream().noneMatch(of -> of.column(name) != null)) {
        throw new GameQueueException("no table has a column '%s'".formatted(name));
      }
    }
    OwnerGuess guess = new OwnerGuess(schema, asked);
    guess.assign();
    if (guess.assigned.isEmpty() && guess.statics.isEmpty() && asked.isEmpty()) {
      // No table of owners: then the reference that most tables have names them.
      String usual = guess.mostFrequentReference();
      if (usual != null) {
        guess = new OwnerGuess(schema, Set.of(usual));
        guess.assign();
      }
    }
    guess.conclude();
    return guess;
  }

  List<Owner> owners() {
    return owners;
  }

  List<Proposal> proposals() {
    return proposals;
  }

  List<LeftOut> left() {
    return left.stream().sorted(Comparator.comparing(LeftOut::table)).toList();
  }

  private static Set<String> all(Map<String, List<OwnerReference>> references) {
    return references.values().stream()
        .flatMap(List::stream)
        .map(OwnerReference::target)
        .collect(Collectors.toSet());
  }

  /** The tables whose rows lead to somebody who plays, by way of other tables too. */
  private Set<String> played() {
    Set<String> played = new HashSet<>(players);
    tables.stream()
        .filter(
            of ->
                OwnerNames.isGroup(columns.one(of.name()))
                    || of.columns().stream().anyMatch(its -> OwnerNames.isSomebody(its.name())))
        .forEach(of -> played.add(of.name()));
    boolean settled = false;
    while (!settled) {
      settled = true;
      for (TableFacts table : tables) {
        if (references(table.name()).anyMatch(of -> played.contains(of.target()))) {
          settled &= !played.add(table.name());
        }
      }
    }
    return played;
  }

  private Set<String> eligible() {
    Map<String, Set<String>> referring = new TreeMap<>();
    Map<String, Set<String>> kept = new TreeMap<>();
    references.values().stream()
        .flatMap(List::stream)
        .filter(OwnerReference::isSure)
        .forEach(
            of -> {
              referring.computeIfAbsent(of.target(), table -> new HashSet<>()).add(of.table());
              if (of.close() || players.isEmpty()) {
                kept.computeIfAbsent(of.target(), table -> new HashSet<>()).add(of.table());
              }
            });
    return referring.keySet().stream()
        .filter(
            of -> {
              int under = kept.getOrDefault(of, Set.of()).size();
              boolean playersReferToIt =
                  players.stream().anyMatch(referring.getOrDefault(of, Set.of())::contains);
              return players.contains(of)
                  || under > 1
                  || (under == 1 && belongsTo(of).findAny().isEmpty())
                  || (playersReferToIt && belongsTo(of).noneMatch(players::contains));
            })
        .collect(Collectors.toSet());
  }

  private Stream<OwnerReference> references(String table) {
    return references.getOrDefault(table, List.of()).stream();
  }

  /** Whose the rows of a table surely are; an owner column does not say that of tables' owners. */
  private Stream<String> belongsTo(String table) {
    return references(table)
        .filter(of -> of.isSure() && !OwnerNames.isOwner(of.column()))
        .map(OwnerReference::target);
  }

  private @Nullable String mostFrequentReference() {
    Map<String, Integer> votes = new TreeMap<>();
    for (TableFacts table : tables) {
      for (ColumnFacts column : table.columns()) {
        if (OwnerReferences.names(column)
            && OwnerReferences.lower(column.name()).endsWith("_id")
            && !column.name().equals(OwnerReferences.onlyKey(table))) {
          votes.merge(OwnerReferences.lower(column.name()), 1, Integer::sum);
        }
      }
    }
    return votes.isEmpty() ? null : OwnerReferences.most(votes);
  }

  /** Gives each table to an owner; a table of owners to whom none goes is none. */
  private void assign() {
    boolean settled = false;
    while (!settled) {
      assigned.clear();
      for (TableFacts table : tables) {
        OwnerReference best = targets.contains(table.name()) ? null : best(table.name());
        if (best != null && best.isSure()) {
          assigned.computeIfAbsent(best.target(), target -> new ArrayList<>()).add(best);
        }
      }
      List<String> ofNobody =
          players.isEmpty()
              ? List.of()
              : assigned.entrySet().stream()
                  .filter(of -> !played.contains(of.getKey()))
                  .filter(
                      of -> of.getValue().stream().noneMatch(its -> played.contains(its.table())))
                  .map(Map.Entry::getKey)
                  .toList();
      statics.addAll(ofNobody);
      settled =
          ofNobody.isEmpty() ? !targets.retainAll(assigned.keySet()) : !targets.removeAll(ofNobody);
    }
  }

  private @Nullable OwnerReference best(String table) {
    boolean ofPlayer =
        references(table).anyMatch(of -> of.isSure() && players.contains(of.target()));
    return references(table)
        .filter(of -> targets.contains(of.target()))
        .filter(of -> !ofPlayer || mayPrecedePlayers(of))
        .min(
            Comparator.comparingInt((OwnerReference of) -> -of.weight())
                .thenComparing(of -> !isOfPlayersOfPlayers(of.target()))
                .thenComparingInt(of -> -tablesOf(of.target())))
        .orElse(null);
  }

  /** What a player has of something static, as a log of quests, is kept under the player. */
  private boolean mayPrecedePlayers(OwnerReference of) {
    return played.contains(of.target())
        || tables.stream()
            .filter(table -> table.name().equals(of.table()))
            .anyMatch(table -> OwnerReferences.isFirstInKey(table, of.column()));
  }

  /** As characters, which accounts have: the more specific of two. */
  private boolean isOfPlayersOfPlayers(String target) {
    return players.contains(target)
        && references(target).anyMatch(of -> players.contains(of.target()));
  }

  private int tablesOf(String target) {
    return (int)
        references.values().stream()
            .filter(of -> of.stream().anyMatch(its -> its.target().equals(target)))
            .count();
  }

  private void conclude() {
    Map<String, String> kinds = new TreeMap<>();
    assigned.entrySet().stream()
        .sorted(
            Comparator.comparingInt(
                    (Map.Entry<String, List<OwnerReference>> of) -> -of.getValue().size())
                .thenComparing(Map.Entry::getKey))
        .forEach(
            of -> {
              String target = of.getKey();
              String kind = kind(target, kinds);
              kinds.put(target, kind);
              propose(target, kind, of.getValue());
            });
    for (TableFacts table : tables) {
      boolean proposed = proposals.stream().anyMatch(of -> of.table().name().equals(table.name()));
      if (!proposed) {
        left.add(leftOut(table, kinds));
      }
    }
  }

  private String kind(String target, Map<String, String> taken) {
    String name = target.startsWith(OwnerReference.NO_TABLE) ? target.substring(1) : null;
    String kind = OwnerNames.kind(name == null ? columns.one(target) : name);
    return taken.containsValue(kind) ? OwnerNames.kind(OwnerNames.plain(target) + "_row") : kind;
  }

  private void propose(String target, String kind, List<OwnerReference> its) {
    TableFacts root =
        tables.stream().filter(of -> of.name().equals(target)).findFirst().orElse(null);
    String key = root == null ? null : OwnerReferences.onlyKey(root);
    owners.add(new Owner(kind, root == null ? null : root.name(), key));
    if (root != null && key != null) {
      proposals.add(
          new Proposal(
              new TableSpec(root.name(), kind, key),
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

  private LeftOut leftOut(TableFacts table, Map<String, String> kinds) {
    OwnerReference best = best(table.name());
    if (best != null) {
      return new LeftOut(
          table.name(),
          "not sure that %s names its owner: %s".formatted(best.column(), best.reason()),
          new TableSpec(
              table.name(), Objects.requireNonNull(kinds.get(best.target())), best.column()));
    }
    if (statics.contains(table.name())) {
      return ofStatic(table, table.name(), OwnerReferences.onlyKey(table));
    }
    for (OwnerReference of : references(table.name()).toList()) {
      if (of.isSure() && statics.contains(of.target())) {
        return ofStatic(table, of.target(), of.column());
      }
      for (Proposal parent : proposals) {
        if (parent.table().name().equals(of.target())) {
          return new LeftOut(
              table.name(),
              ("its %s refers to %s, whose rows are those of a %s: no column of its own"
                          + " names that")
                      .formatted(of.column(), of.target(), parent.table().ownerKind())
                  + " owner",
              null);
        }
      }
    }
    return new LeftOut(table.name(), "no column names an owner", null);
  }

  private LeftOut ofStatic(TableFacts table, String target, @Nullable String column) {
    return new LeftOut(
        table.name(),
        "static, as it looks: no row of %s, nor of what belongs to it, leads to a player"
            .formatted(target),
        column == null
            ? null
            : new TableSpec(table.name(), OwnerNames.kind(columns.one(target)), column));
  }

  /**
   * A column that may name the owner of a table's rows, and what speaks for it; immutable.
   *
   * @param target the table whose rows are the owners; where there is none, {@code ?} and their
   *     kind
   * @param weight what speaks for it, counted
   * @param close whether the rows are kept under those of the target: by a foreign key, by the
   *     primary key, or by the table's name
   * @param reasons what speaks for it, in words
   */
  record OwnerReference(
      String table, String column, String target, int weight, boolean close, List<String> reasons) {
    /** A foreign key alone is no sign of an owner: who banned an address does not own it. */
    static final int ENOUGH = 6;

    /** What stands for a table of owners where there is none. */
    static final String NO_TABLE = "?";

    String reason() {
      return String.join(", ", reasons);
    }

    boolean isSure() {
      return weight >= ENOUGH;
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
      List<Owner> owners,
      List<Proposal> proposals,
      List<TableInspection> tables,
      List<LeftOut> left) {
    public SchemaDraft {
      owners = List.copyOf(owners);
      proposals = List.copyOf(proposals);
      tables = List.copyOf(tables);
      left = List.copyOf(left);
    }

    /**
     * A kind of owners.
     *
     * @param kind for example {@code player}
     * @param table the one whose rows are the owners themselves, as {@code players}; null: none
     * @param key its primary key
     */
    public record Owner(String kind, @Nullable String table, @Nullable String key) {}

    /**
     * A table and its owner column.
     *
     * @param reason why that column
     * @param others other columns that might be meant, each with why
     */
    public record Proposal(TableSpec table, String reason, List<String> others) {
      public Proposal {
        others = List.copyOf(others);
      }
    }

    /**
     * A table that is not proposed.
     *
     * @param unsure what it would be proposed as, were the guess better founded; null: nothing
     */
    public record LeftOut(String table, String reason, @Nullable TableSpec unsure) {}
  }
}
