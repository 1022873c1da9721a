package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.Row;
import io.gameq.mysql.Samples;
import io.gameq.servers.GameDatabase;
import io.gameq.writer.service.WriterService;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every column type through Redis into MySQL and back, inserted and then updated. */
class EveryTypeTest {
  private static final long SEED = Long.getLong("gameq.seed", System.nanoTime());

  @TempDir Path walDirectory;

  @Test
  void comesBackBitForBitFromRedisAndFromMySql() throws Exception {
    System.out.println("EveryTypeTest: -Dgameq.seed=" + SEED);
    List<Samples> samples = Samples.all();
    GameDatabase database = GameDatabase.create("types");
    for (int i = 0; i < samples.size(); i++) {
      database.table(
          "t" + i,
          "player",
          "player_id",
          "player_id INT NOT NULL, n INT NOT NULL, v "
              + samples.get(i).type()
              + " NULL, PRIMARY KEY (player_id, n)");
    }
    try (Game game = new Game(database, walDirectory);
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      List<List<@Nullable Object>> values = values(samples);
      put(player, values);
      assertEquals(List.of(), differences(queue, samples, values), "from Redis");
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), player.awaitDurable(LONG));
        assertEquals(List.of(), differences(queue, samples, values), "from MySQL, inserted");
        values.forEach(list -> list.add(list.remove(0)));
        put(player, values);
        assertEquals(Set.of(), player.awaitDurable(LONG));
        assertEquals(List.of(), differences(queue, samples, values), "from MySQL, updated");
      }
    }
  }

  private static List<List<@Nullable Object>> values(List<Samples> samples) {
    Random random = new Random(SEED);
    List<List<@Nullable Object>> values = new ArrayList<>();
    for (Samples of : samples) {
      List<@Nullable Object> list = new ArrayList<>(of.extremes());
      list.add(null);
      list.add(of.random().apply(random));
      values.add(list);
    }
    return values;
  }

  private static Map<String, @Nullable Object> columns(int n, @Nullable Object value) {
    Map<String, @Nullable Object> columns = new HashMap<>();
    columns.put("player_id", 1);
    columns.put("n", n);
    columns.put("v", value);
    return columns;
  }

  private static void put(OwnerSession player, List<List<@Nullable Object>> values) {
    for (int i = 0; i < values.size(); i++) {
      for (int n = 0; n < values.get(i).size(); n++) {
        player.put("t" + i, columns(n, values.get(i).get(n)));
      }
      player.commit().awaitQueued(LONG);
    }
  }

  /** What is read and is not what the catalogue makes of what was put. */
  private static List<String> differences(
      GameQueue queue, List<Samples> samples, List<List<@Nullable Object>> values) {
    List<String> differences = new ArrayList<>();
    for (int i = 0; i < samples.size(); i++) {
      List<Row> rows = new ArrayList<>(queue.read("player:1", "t" + i));
      rows.sort(Comparator.comparing(row -> row.getLong("n")));
      for (int n = 0; n < values.get(i).size(); n++) {
        Row expected = queue.row("t" + i, columns(n, values.get(i).get(n)));
        if (rows.size() <= n || !rows.get(n).equals(expected)) {
          differences.add(samples.get(i).type() + " value " + n);
        }
      }
    }
    return differences;
  }
}
