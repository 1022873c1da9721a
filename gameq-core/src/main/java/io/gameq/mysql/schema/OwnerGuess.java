package io.gameq.mysql.schema;

import io.gameq.GameQueueException;
import io.gameq.mysql.schema.SchemaDraft.LeftOut;
import io.gameq.mysql.schema.SchemaDraft.Owner;
import io.gameq.mysql.schema.SchemaDraft.Proposal;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
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
import org.jspecify.annotations.Nullable;

/**
 * Guesses whose rows the tables of a database hold. Used by one thread.
 *
 * <p>A table is one of owners when the rows of others belong to its rows: two tables or more, or
 * one where its own rows belong to nobody or it is named as players are. It belongs to itself; each
 * other table to the one of those for which most speaks.
 */
final class OwnerGuess {
  private static final String OWN_TABLES = "gameq_";

  private final List<TableFacts> tables;
  private final List<LeftOut> left = new ArrayList<>();
  private final Map<String, List<OwnerReference>> references = new TreeMap<>();
  private final Set<String> targets = new TreeSet<>();
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
    for (OwnerReference of : new OwnerReferences(schema, tables, asked).all()) {
      references.computeIfAbsent(of.table(), table -> new ArrayList<>()).add(of);
    }
    targets.addAll(asked.isEmpty() ? eligible() : all(references));
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
    if (guess.assigned.isEmpty() && asked.isEmpty()) {
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

  private Set<String> eligible() {
    Map<String, Set<String>> referring = new TreeMap<>();
    references.values().stream()
        .flatMap(List::stream)
        .filter(OwnerReference::isSure)
        .forEach(
            of -> referring.computeIfAbsent(of.target(), table -> new HashSet<>()).add(of.table()));
    return referring.entrySet().stream()
        .filter(
            of ->
                of.getValue().size() > 1
                    || belongsToNobody(of.getKey())
                    || OwnerNames.arePlayers(of.getKey()))
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  private boolean belongsToNobody(String table) {
    return references.getOrDefault(table, List.of()).stream().noneMatch(OwnerReference::isSure);
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
      settled = !targets.retainAll(assigned.keySet());
    }
  }

  private @Nullable OwnerReference best(String table) {
    return references.getOrDefault(table, List.of()).stream()
        .filter(of -> targets.contains(of.target()))
        .min(
            Comparator.comparingInt((OwnerReference of) -> -of.weight())
                .thenComparingInt(of -> -tablesOf(of.target())))
        .orElse(null);
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

  private static String kind(String target, Map<String, String> taken) {
    String name = target.startsWith(OwnerReference.NO_TABLE) ? target.substring(1) : null;
    String kind = OwnerNames.kind(name == null ? OwnerNames.singular(target) : name);
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
          references.getOrDefault(of.table(), List.of()).stream()
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
    for (OwnerReference of : references.getOrDefault(table.name(), List.of())) {
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
}
