package io.gameq.writer.campaign;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * MySQL away for long under load: Redis grows with the distinct rows, writers ask little of it, and
 * everything is drained by itself once MySQL is back. {@code -Dgameq.campaign.away=N} seconds.
 */
@Tag("campaign")
class MySqlAwayTest {
  private static final int SECONDS =
      Integer.getInteger("gameq.campaign.away", CampaignLength.isShort() ? 10 : 60);

  private static final int COUNTED_SECONDS = 10;
  private static final int MOST_COMMANDS_PER_WRITER = 100;

  @Test
  void waitsQuietlyAndDrainsByItself() throws Exception {
    Path directory = Files.createDirectories(Path.of("target", "campaign-away"));
    try (CampaignServers servers = new CampaignServers(directory);
        World world = new World(servers, directory.resolve("case"), 1)) {
      world.nodes.forEach(NodeProcess::kill); // this test has a load of its own
      world.reader.stop();
      Awaitility.await()
          .atMost(LONG)
          .until(() -> DrainCheck.rows(servers.redis(), world.namespace).isEmpty());
      long stale = waitingRows(world); // of sessions that lost their owners before
      try (SteadyLoad load = new SteadyLoad(world)) {
        TimeUnit.SECONDS.sleep(3);
        servers.mysql().kill();
        System.out.println("MySQL away for s | row changes accepted | rows in Redis | used_memory");
        for (int second = 0; second <= SECONDS; second += 10) {
          System.out.printf(
              "%16d | %20d | %13d | %,d KiB%n",
              second, load.accepted(), waitingRows(world) - stale, usedMemory(servers) / 1024);
          TimeUnit.SECONDS.sleep(Math.min(10, SECONDS - second));
        }
        load.close(); // what is counted is the writers'
        long away = commandsPerWriter(world);
        long waiting = waitingRows(world) - stale;
        servers.mysql().restart();
        long back = System.nanoTime();
        Awaitility.await()
            .atMost(LONG)
            .until(() -> DrainCheck.rows(servers.redis(), world.namespace).isEmpty());
        double drained = (System.nanoTime() - back) / 1e9;
        long idle = commandsPerWriter(world);
        System.out.printf(
            "away %d s: %,d row changes accepted, %,d rows waited in Redis, drained in %.1f s;"
                + " commands a second and writer: %d while away, %d while idle%n",
            SECONDS, load.accepted(), waiting, drained, away, idle);
        assertEquals(List.of(), load.failures(), "only back-pressure");
        assertEquals(load.expected(), load.inMySql());
        assertEquals("0", world.mysql().queryText("SELECT COUNT(*) FROM gameq_dead_letter"));
        assertEquals(List.of(), errors(world), "outages are warnings");
        assertTrue(waiting <= SteadyLoad.ROWS, () -> waiting + " rows");
        assertTrue(away < MOST_COMMANDS_PER_WRITER, () -> away + " commands a second while away");
        assertTrue(idle < MOST_COMMANDS_PER_WRITER, () -> idle + " commands a second while idle");
      }
    }
  }

  private static long waitingRows(World world) {
    RedisCommands<String, String> redis = world.servers.redis();
    return world.keys("").stream()
        .filter(key -> key.contains("}:dirty:") || key.contains("}:claimed:"))
        .mapToLong(redis::hlen)
        .sum();
  }

  private static long usedMemory(CampaignServers servers) {
    return info(servers, "memory", "used_memory:").mapToLong(Long::parseLong).sum();
  }

  /** What a writer sends, commands of scripts included. */
  private static long commandsPerWriter(World world) throws InterruptedException {
    long before = commands(world.servers);
    TimeUnit.SECONDS.sleep(COUNTED_SECONDS);
    return (commands(world.servers) - before) / COUNTED_SECONDS / world.writers.size();
  }

  private static long commands(CampaignServers servers) {
    return info(servers, "commandstats", "cmdstat_")
        .mapToLong(line -> Long.parseLong(line.replaceAll("^[^:]*:calls=(\\d+),.*", "$1")))
        .sum();
  }

  private static Stream<String> info(CampaignServers servers, String section, String prefix) {
    return servers
        .redis()
        .info(section)
        .lines()
        .filter(line -> line.startsWith(prefix))
        .map(line -> line.substring(prefix.length()).trim());
  }

  /** What writers logged as errors: outages are warnings. */
  private static List<String> errors(World world) throws IOException {
    List<String> errors = new ArrayList<>();
    for (String name : List.of("w1.log", "w2.log")) {
      Files.readAllLines(world.directory.resolve(name)).stream()
          .filter(line -> line.contains(" ERROR "))
          .forEach(errors::add);
    }
    return errors;
  }
}
