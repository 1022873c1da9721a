package io.gameq.rows;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Orders tables so that parents come before children. Stateless. */
public final class ForeignKeyRanks {
  private ForeignKeyRanks() {}

  /**
   * The rank of each table: 0 without a parent among them, else one above the highest parent. A
   * table that refers to itself has no parent in this sense; a cycle is broken at the table whose
   * name comes first.
   *
   * @param parents for each table, the tables that its foreign keys refer to
   */
  public static Map<String, Integer> of(Set<String> tables, Map<String, Set<String>> parents) {
    Map<String, Integer> ranks = new HashMap<>();
    TreeSet<String> open = new TreeSet<>(tables);
    while (!open.isEmpty()) {
      String next =
          open.stream()
              .filter(
                  t ->
                      parents.getOrDefault(t, Set.of()).stream()
                          .noneMatch(p -> !p.equals(t) && open.contains(p)))
              .findFirst()
              .orElse(open.first());
      int rank = 0;
      for (String parent : parents.getOrDefault(next, Set.of())) {
        rank = Math.max(rank, ranks.getOrDefault(parent, -1) + 1);
      }
      ranks.put(next, rank);
      open.remove(next);
    }
    return ranks;
  }
}
