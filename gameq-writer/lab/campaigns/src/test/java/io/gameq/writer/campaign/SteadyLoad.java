package io.gameq.writer.campaign;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.writer.campaign.CampaignTables.Item;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One game node that rewrites the same rows of owners that it opened before, as fast as Redis takes
 * them. Used by a test's thread.
 */
final class SteadyLoad implements AutoCloseable {
  private static final int PLAYERS = 400;
  private static final int SLOTS = 5;
  private static final int FIRST_PLAYER = 10_000;
  private static final int COMMITS_AT_A_TIME = 100;

  /** Distinct rows that are written. */
  static final int ROWS = PLAYERS * SLOTS;

  private final World world;
  private final GameQueue queue;
  private final List<OwnerSession> sessions = new ArrayList<>();
  private final AtomicLong accepted = new AtomicLong();
  private final ConcurrentLinkedQueue<String> failures = new ConcurrentLinkedQueue<>();
  private final Map<String, String> last = new TreeMap<>();
  private final Thread thread = new Thread(this::run, "steady-load");
  private volatile boolean stopping;

  SteadyLoad(World world) {
    this.world = world;
    NodeOptions like = world.nodes.get(0).options();
    queue =
        GameQueue.open(
            CampaignNode.config(
                new NodeOptions(
                    "load",
                    0,
                    0,
                    0,
                    world.namespace,
                    world.servers.redisUri(),
                    world.servers.mysql().jdbcUrl(world.database),
                    like.history(),
                    world.directory.resolve("wal-load"),
                    0,
                    World.MERGE_WINDOW_MILLIS),
                Clock.systemUTC()));
    for (int player = 0; player < PLAYERS; player++) {
      sessions.add(queue.open(CampaignTables.player(FIRST_PLAYER + player)));
    }
    thread.start();
  }

  private void run() {
    for (long n = 0; !stopping; ) {
      List<CommitReceipt> receipts = new ArrayList<>();
      for (int i = 0; i < COMMITS_AT_A_TIME; i++, n++) {
        int player = (int) (n % PLAYERS);
        for (int slot = 0; slot < SLOTS; slot++) {
          String value = "v" + n;
          sessions.get(player).put(new Item(FIRST_PLAYER + player, slot, value));
          last.put((FIRST_PLAYER + player) + "," + slot, value);
        }
        receipts.add(sessions.get(player).commit());
      }
      for (CommitReceipt receipt : receipts) {
        try {
          receipt.awaitQueued(Duration.ofSeconds(10));
          accepted.addAndGet(SLOTS);
        } catch (RuntimeException e) {
          failures.add(e.toString());
        }
      }
    }
  }

  /** Row changes that Redis took. */
  long accepted() {
    return accepted.get();
  }

  /** What commits failed with. */
  List<String> failures() {
    return List.copyOf(failures);
  }

  void stop() throws InterruptedException {
    stopping = true;
    thread.join();
  }

  /** What was written last, row by row; once stopped. */
  Map<String, String> expected() {
    return last;
  }

  Map<String, String> inMySql() throws SQLException {
    Map<String, String> rows = new TreeMap<>();
    try (Connection connection = world.mysql().connect();
        Statement statement = connection.createStatement();
        ResultSet rs =
            statement.executeQuery(
                "SELECT player_id, slot, val FROM item WHERE player_id >= " + FIRST_PLAYER)) {
      while (rs.next()) {
        rows.put(rs.getLong(1) + "," + rs.getInt(2), rs.getString(3));
      }
    }
    return rows;
  }

  @Override
  public void close() throws InterruptedException {
    stop();
    queue.close();
  }
}
