package io.gameq.writer.campaign;

import com.sun.net.httpserver.HttpServer;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.config.GameQueueConfig;
import io.gameq.config.Password;
import io.gameq.metrics.GameQueueMetrics;
import io.gameq.servers.ChildJvm;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A game node as a process of its own, as users deploy it: shipped settings, passwords in files,
 * {@code /metrics}. It plays at an ordinary pace and writes every change that was acknowledged into
 * a ledger: a deed is a row of its own, which is never written again; an item is written again and
 * again.
 *
 * <pre>
 * clock       answers "clock MS", the time of day as this process has it
 * close       plays no further, closes; answers "closed"
 * </pre>
 */
public final class LedgerNode {
  public static final int PLAYERS = 40;
  public static final int SLOTS = 4;

  private static final long PACE_MILLIS = 20;
  private static final long PAUSE_AFTER_ERROR_MILLIS = 200;

  /** What a node is started with; immutable. */
  public record Options(
      String namespace,
      String name,
      long firstPlayer,
      long firstDeed,
      int port,
      String redisUri,
      String redisUser,
      Path redisPassword,
      String jdbcUrl,
      String mysqlUser,
      Path mysqlPassword,
      Path wal,
      Path ledger) {
    /** For {@link ChildJvm}. */
    public List<String> toArguments() {
      return List.of(
          namespace,
          name,
          Long.toString(firstPlayer),
          Long.toString(firstDeed),
          Integer.toString(port),
          redisUri,
          redisUser,
          redisPassword.toString(),
          jdbcUrl,
          mysqlUser,
          mysqlPassword.toString(),
          wal.toString(),
          ledger.toString());
    }

    static Options of(String[] a) {
      return new Options(
          a[0],
          a[1],
          Long.parseLong(a[2]),
          Long.parseLong(a[3]),
          Integer.parseInt(a[4]),
          a[5],
          a[6],
          Path.of(a[7]),
          a[8],
          a[9],
          Path.of(a[10]),
          Path.of(a[11]),
          Path.of(a[12]));
    }
  }

  private final Options options;
  private final GameQueue queue;
  private final Writer ledger;
  private final Map<Long, OwnerSession> sessions = new HashMap<>();
  private final Thread game = new Thread(this::play, "game");
  private volatile boolean stopping;

  private LedgerNode(Options options) throws IOException {
    this.options = options;
    this.ledger =
        Files.newBufferedWriter(
            options.ledger(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    this.queue =
        GameQueue.open(
            GameQueueConfig.builder()
                .redis(options.redisUri())
                .redisUser(options.redisUser())
                .redisPassword(Password.ofFile(options.redisPassword()))
                .mysql(
                    options.jdbcUrl(),
                    options.mysqlUser(),
                    Password.ofFile(options.mysqlPassword()))
                .namespace(options.namespace())
                .node(options.name())
                .walDirectory(options.wal())
                .onConflict(conflict -> note("conflict " + conflict.owner()))
                .build());
    serveMetrics();
  }

  private void serveMetrics() throws IOException {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    new GameQueueMetrics(queue).bindTo(registry);
    HttpServer http =
        HttpServer.create(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), options.port()), 10);
    http.createContext(
        "/metrics",
        exchange -> {
          byte[] body = registry.scrape().getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().add("Content-Type", "text/plain; version=0.0.4");
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    http.start();
  }

  /** A line that a kill of the process does not take back. */
  private synchronized void note(String line) {
    try {
      ledger.write(line + "\n");
      ledger.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void play() {
    Random random = new Random(options.firstDeed());
    long deed = options.firstDeed();
    while (!stopping) {
      long player = options.firstPlayer() + random.nextInt(PLAYERS);
      try {
        commit(session(player), player, random.nextInt(SLOTS), deed++);
        TimeUnit.MILLISECONDS.sleep(PACE_MILLIS);
      } catch (GameQueueException e) {
        sessions.remove(player); // a game lets the player log in again
        pause();
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private OwnerSession session(long player) {
    OwnerSession open = sessions.get(player);
    if (open == null) {
      open = queue.open("player:" + player);
      sessions.put(player, open);
    }
    return open;
  }

  private void commit(OwnerSession session, long player, int slot, long deed) {
    session.put("deed", Map.of("id", deed, "player_id", player));
    session.put("item", Map.of("player_id", player, "slot", slot, "n", deed, "note", "of " + deed));
    session.commit().queued().thenRun(() -> note("deed %d %d %d".formatted(deed, player, slot)));
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(PAUSE_AFTER_ERROR_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void close() throws InterruptedException {
    stopping = true;
    game.join();
    Set<String> waiting = queue.drain(Duration.ofSeconds(5));
    queue.close();
    System.out.println("closed " + waiting.size());
  }

  public static void main(String[] args) throws Exception {
    LedgerNode node = new LedgerNode(Options.of(args));
    node.game.start();
    System.out.println("ready");
    try (BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
      for (String command; (command = commands.readLine()) != null; ) {
        switch (command) {
          case "clock" -> System.out.println("clock " + System.currentTimeMillis());
          case "close" -> node.close();
          default -> throw new IllegalArgumentException(command);
        }
      }
    }
    Runtime.getRuntime().halt(0);
  }
}
