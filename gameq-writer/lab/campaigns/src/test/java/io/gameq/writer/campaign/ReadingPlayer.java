package io.gameq.writer.campaign;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.Row;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Reads all owners without a session, over and over, and remembers what it saw. One thread of its
 * own.
 */
public final class ReadingPlayer implements AutoCloseable {
  private final GameQueue queue;
  private final Random random;
  private final List<Sighting> sightings = new ArrayList<>();
  private final Thread thread = new Thread(this::run, "campaign-reader");
  private volatile boolean stopped;

  public ReadingPlayer(GameQueue queue, long seed) {
    this.queue = queue;
    this.random = new Random(seed);
    thread.start();
  }

  private void run() {
    try {
      while (!stopped) {
        long player = 1L + random.nextInt(CampaignNode.RECEIVERS);
        String table = CampaignTables.NAMES.get(random.nextInt(CampaignTables.NAMES.size()));
        try {
          look(CampaignTables.player(player), table);
        } catch (GameQueueException e) { // a server is away
          TimeUnit.MILLISECONDS.sleep(20);
        }
        TimeUnit.MILLISECONDS.sleep(2);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void look(String owner, String table) {
    long from = System.nanoTime();
    List<Row> rows = queue.read(owner, table);
    long until = System.nanoTime();
    Map<String, String> seen = new LinkedHashMap<>();
    rows.forEach(row -> seen.put(row.key(), String.valueOf(row.getString("val"))));
    sightings.add(new Sighting("a read", from, until, owner, table, seen));
  }

  /** What it reads with. */
  public GameQueue queue() {
    return queue;
  }

  /** Stops reading; returns all it saw. */
  public List<Sighting> stop() {
    stopped = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return sightings;
  }

  @Override
  public void close() {
    stop();
    queue.close();
  }
}
