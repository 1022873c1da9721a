package io.gameq.lab.demo;

import io.gameq.Row;
import io.gameq.lab.demo.game.DemoGame;
import io.gameq.lab.mysql.ScratchDatabase;
import io.gameq.rows.Table;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Compares all managed tables in MySQL, read past gameq, with the memory of the game. One thread.
 */
final class Verifier {
  private final ScratchDatabase database;
  private final DemoGame game;

  /** Rows that were there before: the schema file's own. */
  private final Set<String> before = new HashSet<>();

  Verifier(ScratchDatabase database, DemoGame game) {
    this.database = database;
    this.game = game;
    game.tables().forEach(table -> database.scan(table, row -> before.add(row.key())));
  }

  /** Counts every difference in {@code mismatches}; returns how many rows were compared. */
  long verify(List<DemoPlayer> players, Mismatches mismatches) {
    Map<String, Map<String, Row>> expected = new HashMap<>();
    for (DemoPlayer player : players) {
      for (Row row : player.actor.rows()) {
        expected.computeIfAbsent(row.table(), table -> new HashMap<>()).put(row.key(), row);
      }
    }
    long rows = expected.values().stream().mapToLong(Map::size).sum();
    for (Table table : game.tables()) {
      Map<String, Row> missing = expected.getOrDefault(table.name(), new HashMap<>());
      database.scan(
          table,
          found -> {
            Row row = missing.remove(found.key());
            if (row != null) {
              mismatches.compare("in MySQL", row, found);
            } else if (!before.contains(found.key())) {
              mismatches.resurrected("in MySQL", found);
            }
          });
      missing.values().forEach(row -> mismatches.compare("in MySQL", row, null));
    }
    return rows;
  }

  /** Deletes one row in MySQL, so that the verification must find it lost; returns its key. */
  String breakOne(List<DemoPlayer> players) {
    // Of the last table, which no other refers to.
    Table last =
        game.tables().stream()
            .max(Comparator.comparingInt((Table table) -> table.foreignKeys().rank()))
            .orElseThrow(() -> new DemoFailure("no table is managed"));
    Row victim =
        players.stream()
            .flatMap(player -> player.actor.rows().stream())
            .filter(row -> row.table().equals(last.name()))
            .findFirst()
            .orElseThrow(() -> new DemoFailure("table " + last + " has no row to drop"));
    database.delete(last, victim);
    return victim.key();
  }
}
