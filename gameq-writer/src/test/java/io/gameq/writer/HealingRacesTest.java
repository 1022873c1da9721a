package io.gameq.writer;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.gameq.CommitReceipt;
import io.gameq.Conflict;
import io.gameq.GameQueue;
import io.gameq.GameQueueConfigBuilder;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.redis.RedisConfig;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.RedisProxy;
import io.gameq.servers.TestServers;
import io.gameq.writer.service.WriterService;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What happens around a loss and the healing after it, in the order that hurts most: notices,
 * closes, trades, late bytes and successors between two steps.
 */
@Execution(ExecutionMode.CONCURRENT)
class HealingRacesTest {
  private static final Duration LONG = Duration.ofSeconds(40);

  record Pet(long id, long playerId, String name) {}

  @TempDir Path walDirectory;

  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.redisUri(), null, 5_000));
  private final RedisConnection redis = connector.open();
  private final RedisProxy proxy = new RedisProxy();
  private final Queue<Conflict> conflicts = new ConcurrentLinkedQueue<>();
  private Game game;

  @BeforeEach
  void start() throws Exception {
    game =
        new Game(
            GameDatabase.create("review")
                .table(
                    "pet",
                    "player",
                    "player_id",
                    "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, name VARCHAR(20)"
                        + " NOT NULL, KEY (player_id)"),
            walDirectory);
  }

  @AfterEach
  void stop() throws IOException {
    proxy.close();
    game.close();
    connector.close();
  }

  private GameQueueConfigBuilder behindProxy(String node) {
    return game.config(node).redis(proxy.uri()).onConflict(conflicts::add);
  }

  private static CommitReceipt commit(OwnerSession session, Pet pet) {
    session.put(pet);
    return session.commit();
  }

  private static void queued(OwnerSession session, Pet pet) {
    commit(session, pet).awaitQueued(LONG);
  }

  private void loseAllSince(RedisContents image) {
    proxy.refuse(true);
    proxy.cut();
    image.restore();
    proxy.refuse(false);
  }

  @Test
  void aCommitWhoseRowWasOverwrittenAndThenLostIsNotDurable() throws Exception {
    try (GameQueue one = GameQueue.open(behindProxy("n1").build());
        GameQueue two = game.node("n2")) {
      OwnerSession old = one.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      CommitReceipt first = commit(old, new Pet(1, 1, "v5"));
      first.awaitQueued(LONG);
      CommitReceipt second = commit(old, new Pet(1, 1, "v6"));
      second.awaitQueued(LONG);
      CompletableFuture<Void> firstDurable = first.durable();
      proxy.refuse(true);
      proxy.cut();
      replica.restore();
      two.open("player:1");
      proxy.refuse(false);
      assertThrows(ExecutionException.class, () -> second.durable().get(60, TimeUnit.SECONDS));
      assertEquals("0", game.queryText("SELECT COUNT(*) FROM pet"));
      assertThrows(ExecutionException.class, () -> firstDurable.get(20, TimeUnit.SECONDS));
    }
  }

  @Test
  void aNoticeBeforeTheReplayDoesNotHideWhatRedisLost() throws Exception {
    try (Tap tap = new Tap();
        GameQueue queue =
            GameQueue.open(game.config("n1").redis(tap.uri()).onConflict(conflicts::add).build())) {
      OwnerSession player = queue.open("player:1");
      CommitReceipt lost = commit(player, new Pet(1, 1, "acknowledged"));
      lost.awaitQueued(LONG);
      RedisContents.empty(redis, game.namespace).restore();
      tap.slowReassert = true;
      CommitReceipt next = commit(player, new Pet(2, 1, "next"));
      assertTrue(tap.reasserted.await(20, TimeUnit.SECONDS));
      try (WriterService writer = game.writer("w1")) {
        lost.awaitDurable(Duration.ofSeconds(60));
        next.awaitDurable(Duration.ofSeconds(60));
        assertEquals(Set.of(), queue.drain(LONG));
        assertEquals(List.of(), List.copyOf(conflicts));
        assertEquals("2", game.queryText("SELECT COUNT(*) FROM pet"));
      }
    }
  }

  @Test
  void aCommitSentAgainBecomesDurableThoughItsSessionStaysBusy() throws Exception {
    try (GameQueue queue = GameQueue.open(behindProxy("n1").build());
        WriterService writer = game.writer("w1")) {
      OwnerSession player = queue.open("player:1");
      queued(player, new Pet(1, 1, "v0"));
      proxy.dropReplies(true);
      CommitReceipt again = commit(player, new Pet(1, 1, "again"));
      await().atMost(LONG).until(() -> inRedisOrMySql("again"));
      proxy.cut();
      proxy.dropReplies(false);
      again.awaitQueued(LONG);
      CompletableFuture<Void> durable = again.durable();
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      int i = 0;
      while (System.nanoTime() < end && !durable.isDone()) {
        commit(player, new Pet(2, 1, "v" + i++)).awaitDurable(LONG);
        Thread.sleep(100);
      }
      String busy = "durable while busy: " + durable.isDone();
      durable.get(40, TimeUnit.SECONDS);
      assertEquals("durable while busy: true", busy);
    }
  }

  private boolean inRedisOrMySql(String name) throws Exception {
    return game.queryText("SELECT COUNT(*) FROM pet WHERE name = '" + name + "'").equals("1");
  }

  @Test
  void theOldConnectionIsSilencedThoughTheFirstAttemptToHealBroke() throws Exception {
    try (Tap tap = new Tap();
        GameQueue queue =
            GameQueue.open(game.config("n1").redis(tap.uri()).onConflict(conflicts::add).build());
        GameQueue reader = game.node("n2")) {
      OwnerSession player = queue.open("player:1");
      queued(player, new Pet(1, 1, "v0"));
      tap.holdSender();
      tap.cutOnKill.set(1);
      CommitReceipt old = commit(player, new Pet(1, 1, "old"));
      old.awaitQueued(LONG); // sent again over another connection
      queued(player, new Pet(1, 1, "new"));
      assertEquals(0, tap.cutOnKill.get());
      tap.release();
      await()
          .during(Duration.ofMillis(500))
          .until(() -> reader.read("player:1", Pet.class).equals(List.of(new Pet(1, 1, "new"))));
    }
  }

  @Test
  void aCommitThatPassesItsSessionsCloseIsHealedToo() throws Exception {
    try (GameQueue queue =
        GameQueue.open(
            behindProxy("n1")
                .mergeWindow(Duration.ofSeconds(10))
                .maxCommit(2, 8 << 20)
                .maxDirtyRowsPerOwner(2)
                .build())) {
      OwnerSession a = queue.open("player:1");
      OwnerSession b = queue.open("player:2");
      queued(b, new Pet(2, 2, "full"));
      queued(b, new Pet(4, 2, "full"));
      a.put(new Pet(1, 1, "traded"));
      b.put(new Pet(3, 2, "traded"));
      CompletableFuture<CommitReceipt> trade = new CompletableFuture<>();
      Thread trading = new Thread(() -> trade.complete(queue.commit(a, b)));
      trading.start();
      await().until(() -> trading.getState() == Thread.State.TIMED_WAITING); // for room of b
      CompletableFuture<Void> close = CompletableFuture.runAsync(a::close);
      try (WriterService writer = game.writer("w1")) {
        trade.get(30, TimeUnit.SECONDS).awaitQueued(LONG);
        close.get(30, TimeUnit.SECONDS);
      }
      assumeTrue(
          game.queryText("SELECT COUNT(*) FROM pet WHERE id = 1").equals("0"),
          "the writer was slow to stop and flushed the row: there is nothing to lose");
      loseAllSince(RedisContents.empty(redis, game.namespace));
      queued(b, new Pet(3, 2, "healed"));
      try (WriterService writer = game.writer("w2")) {
        assertEquals(Set.of(), queue.drain(LONG));
        assertTrue(
            !game.queryText("SELECT COUNT(*) FROM pet WHERE id = 1").equals("0")
                || !conflicts.isEmpty(),
            "pet 1 was acknowledged, is nowhere, and nobody was told");
      }
    }
  }

  @Test
  void halfOfATradeIsNotReplayedInSilence() throws Exception {
    try (GameQueue one = GameQueue.open(behindProxy("n1").build());
        GameQueue two = game.node("n2")) {
      OwnerSession giver = one.open("player:1");
      OwnerSession taker = one.open("player:2");
      queued(giver, new Pet(1, 1, "sword"));
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), one.drain(LONG));
      }
      RedisContents replica = RedisContents.of(redis, game.namespace);
      giver.move(new Pet(1, 2, "sword"), taker);
      one.commit(giver, taker).awaitQueued(LONG);
      proxy.refuse(true);
      proxy.cut();
      replica.restore();
      OwnerSession successor = two.open("player:1");
      assertEquals(List.of(new Pet(1, 1, "sword")), successor.rows(Pet.class));
      proxy.refuse(false);
      await()
          .atMost(LONG)
          .until(() -> conflicts.stream().anyMatch(c -> c.owner().equals("player:2")));
      assertEquals(List.of(), two.read("player:2", Pet.class));
      try (WriterService writer = game.writer("w2")) {
        one.drain(Duration.ofSeconds(25));
        CommitReceipt back = commit(successor, new Pet(1, 1, "my sword"));
        String outcome = "durable";
        try {
          back.awaitDurable(Duration.ofSeconds(20));
        } catch (GameQueueException e) {
          outcome = String.valueOf(e.getMessage());
        }
        assertTrue(
            conflicts.stream().anyMatch(c -> c.rows().containsKey("pet:1"))
                || game.queryText("SELECT player_id FROM pet WHERE id = 1").equals("2"),
            "player 2 was given the sword durably, player 1 has it in MySQL, no conflict names it: "
                + outcome
                + " "
                + conflicts);
      }
    }
  }

  /** Returns what Redis held before the trade. */
  private RedisContents tradeSword(GameQueue queue, OwnerSession giver, OwnerSession taker) {
    queued(giver, new Pet(1, 1, "sword"));
    RedisContents before = RedisContents.of(redis, game.namespace);
    giver.move(new Pet(1, 2, "sword"), taker);
    giver.put(new Pet(2, 1, "paid"));
    queue.commit(giver, taker).awaitQueued(LONG);
    return before;
  }

  @Test
  void aTradeWhoseOtherHalfALaterSessionOfTheNodeAdoptedIsReplayedWhole() throws Exception {
    try (GameQueue one = GameQueue.open(behindProxy("n1").build());
        GameQueue two = game.node("n2")) {
      OwnerSession giver = one.open("player:1");
      OwnerSession taker = one.open("player:2");
      RedisContents replica = tradeSword(one, giver, taker);
      one.open("player:2");
      OwnerSession last = one.open("player:2");
      loseAllSince(replica);
      queued(last, new Pet(3, 2, "healed"));
      assertEquals(List.of(new Pet(2, 1, "paid")), two.read("player:1", Pet.class));
      assertEquals(
          Set.of(new Pet(1, 2, "sword"), new Pet(3, 2, "healed")),
          Set.copyOf(two.read("player:2", Pet.class)));
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), one.drain(LONG));
        assertEquals("2", game.queryText("SELECT player_id FROM pet WHERE id = 1"));
      }
      assertEquals(List.of(), List.copyOf(conflicts));
    }
  }

  @Test
  void aTradeWhoseOtherHalfASessionOfAnotherNodeAdoptedIsReplayedWhole() throws Exception {
    try (GameQueue one = GameQueue.open(behindProxy("n1").build());
        GameQueue two = GameQueue.open(behindProxy("n2").build())) {
      OwnerSession giver = one.open("player:1");
      OwnerSession taker = one.open("player:2");
      RedisContents replica = tradeSword(one, giver, taker);
      OwnerSession heir = two.open("player:2");
      loseAllSince(replica);
      queued(giver, new Pet(3, 1, "healed"));
      queued(heir, new Pet(4, 2, "healed"));
      assertEquals(
          Set.of(new Pet(2, 1, "paid"), new Pet(3, 1, "healed")),
          Set.copyOf(two.read("player:1", Pet.class)));
      assertEquals(
          Set.of(new Pet(1, 2, "sword"), new Pet(4, 2, "healed")),
          Set.copyOf(one.read("player:2", Pet.class)));
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), one.drain(LONG));
        assertEquals("2", game.queryText("SELECT player_id FROM pet WHERE id = 1"));
      }
      assertEquals(List.of(), List.copyOf(conflicts));
    }
  }

  @Test
  void aTradeWhoseOtherHalfWasAdoptedAndChangedSinceIsReplayedWhole() throws Exception {
    try (GameQueue one = GameQueue.open(behindProxy("n1").build());
        GameQueue two = GameQueue.open(behindProxy("n2").build())) {
      OwnerSession giver = one.open("player:1");
      OwnerSession taker = one.open("player:2");
      RedisContents replica = tradeSword(one, giver, taker);
      OwnerSession heir = two.open("player:2");
      queued(heir, new Pet(1, 2, "sharp sword"));
      loseAllSince(replica);
      queued(heir, new Pet(4, 2, "healed"));
      queued(giver, new Pet(3, 1, "healed"));
      assertEquals(
          Set.of(new Pet(2, 1, "paid"), new Pet(3, 1, "healed")),
          Set.copyOf(two.read("player:1", Pet.class)));
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), one.drain(LONG));
        assertEquals(Set.of(), two.drain(LONG));
        assertEquals(
            "2 sharp sword",
            game.queryText("SELECT CONCAT(player_id, ' ', name) FROM pet WHERE id = 1"));
      }
      assertEquals(List.of(), List.copyOf(conflicts));
    }
  }

  @Test
  void aRowOfATradeThatIsGivenUpIsWhatItWasBefore() throws Exception {
    try (GameQueue one = GameQueue.open(behindProxy("n1").build());
        GameQueue two = game.node("n2")) {
      OwnerSession giver = one.open("player:1");
      OwnerSession taker = one.open("player:2");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      CommitReceipt before = commit(giver, new Pet(1, 1, "sword"));
      before.awaitQueued(LONG);
      giver.move(new Pet(1, 2, "sword"), taker);
      one.commit(giver, taker).awaitQueued(LONG);
      queued(giver, new Pet(3, 1, "later"));
      proxy.refuse(true);
      proxy.cut();
      replica.restore();
      two.open("player:2"); // without the sword: the trade is lost
      proxy.refuse(false);
      try (WriterService writer = game.writer("w1")) {
        before.awaitDurable(LONG);
        assertEquals("1", game.queryText("SELECT player_id FROM pet WHERE id = 1"));
        await()
            .atMost(LONG)
            .until(
                () ->
                    conflicts.stream()
                        .anyMatch(
                            c -> c.owner().equals("player:1") && c.rows().containsKey("pet:1")));
      }
    }
  }

  @Test
  void whatASupersededSessionCommitsIsNotAdoptedForASuccessorThatIsOpen() throws Exception {
    try (RedisProxy ofTwo = new RedisProxy();
        GameQueue one = GameQueue.open(behindProxy("n1").build());
        GameQueue two = GameQueue.open(game.config("n2").redis(ofTwo.uri()).build())) {
      OwnerSession old = one.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      OwnerSession successor = two.open("player:1"); // on the primary that is lost
      ofTwo.refuse(true);
      ofTwo.cut();
      replica.restore();
      CommitReceipt late = commit(old, new Pet(1, 1, "late"));
      late.awaitQueued(LONG);
      try (WriterService writer = game.writer("w1", 1_000)) {
        await().atMost(LONG).until(this::redisKnowsTheSecondSession); // from the writer
        ofTwo.refuse(false);
        await()
            .atMost(Duration.ofSeconds(60))
            .until(() -> late.durable().isDone() || !conflicts.isEmpty());
        assertEquals(List.of(), successor.rows(Pet.class));
        assertEquals(
            "0",
            game.queryText("SELECT COUNT(*) FROM pet WHERE name = 'late'"),
            "the successor, open and alive, never saw it: it should be a conflict");
      }
    }
  }

  private boolean redisKnowsTheSecondSession() {
    return redis.sync().keys("{" + game.namespace + ":*:own:*").stream()
        .anyMatch(
            own -> new String(redis.sync().get(own), ISO_8859_1).startsWith("0".repeat(15) + "2"));
  }

  @Test
  void oneBrokenKeyDoesNotStopTheHealingOfAllSessions() throws Exception {
    try (GameQueue queue = GameQueue.open(behindProxy("n1").build())) {
      OwnerSession unused = queue.open("player:1");
      OwnerSession other = queue.open("player:2");
      byte[] own =
          redis.sync().keys("{" + game.namespace + ":*:own:*").stream()
              .filter(key -> new String(key, ISO_8859_1).endsWith("1"))
              .findFirst()
              .orElseThrow();
      redis.sync().del(own);
      redis.sync().lpush(own, "x".getBytes(ISO_8859_1));
      proxy.cut();
      commit(other, new Pet(2, 2, "v1")).awaitQueued(Duration.ofSeconds(20));
      assertNotEquals(null, unused);
    }
  }

  /** A proxy that looks at what is sent. */
  private static final class Tap implements AutoCloseable {
    final CountDownLatch reasserted = new CountDownLatch(1);
    final AtomicInteger cutOnKill = new AtomicInteger();
    volatile boolean slowReassert;
    private final ServerSocket server;
    private final List<Link> links = new CopyOnWriteArrayList<>();
    private final URI target = URI.create(TestServers.redisUri());

    Tap() throws IOException {
      server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
      daemon(
          () -> {
            while (!server.isClosed()) {
              try {
                links.add(new Link(server.accept()));
              } catch (IOException e) {
                // closed
              }
            }
          });
    }

    String uri() {
      return "redis://127.0.0.1:" + server.getLocalPort();
    }

    void holdSender() {
      links.stream().filter(link -> link.isSender).forEach(link -> link.holding = true);
    }

    void release() throws IOException {
      for (Link link : links) {
        if (link.holding) {
          synchronized (link) {
            link.holding = false;
            link.redis.getOutputStream().write(link.held.toByteArray());
            link.redis.getOutputStream().flush();
          }
        }
      }
    }

    static void daemon(Runnable task) {
      Thread thread = new Thread(task, "tap");
      thread.setDaemon(true);
      thread.start();
    }

    @Override
    public void close() throws IOException {
      server.close();
      links.forEach(Link::cut);
    }

    private final class Link {
      final Socket client;
      final Socket redis;
      final ByteArrayOutputStream held = new ByteArrayOutputStream();
      volatile boolean isSender;
      volatile boolean holding;
      private boolean loadedReassert;
      private volatile long repliesFrom;

      Link(Socket client) throws IOException {
        this.client = client;
        this.redis = new Socket(target.getHost(), target.getPort());
        daemon(this::requests);
        daemon(this::replies);
      }

      private void requests() {
        byte[] buffer = new byte[1 << 16];
        try {
          InputStream in = client.getInputStream();
          for (int n; (n = in.read(buffer)) > 0; ) {
            String text = new String(buffer, 0, n, ISO_8859_1);
            if (text.contains("MULTI")) {
              isSender = true;
            }
            if (text.contains("KILL") && cutOnKill.get() > 0) {
              cutOnKill.decrementAndGet();
              cut();
              return;
            }
            if (loadedReassert && text.contains("EVALSHA")) {
              loadedReassert = false;
              slowReassert = false;
              repliesFrom = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(4_000);
              redis.getOutputStream().write(buffer, 0, n);
              reasserted.countDown();
              continue;
            }
            if (slowReassert && text.contains("Tells Redis again")) {
              loadedReassert = true;
            }
            synchronized (this) {
              if (holding) {
                held.write(buffer, 0, n);
              } else {
                redis.getOutputStream().write(buffer, 0, n);
              }
            }
          }
        } catch (IOException e) {
          // hung up
        }
        if (!holding) {
          cut();
        }
      }

      private void replies() {
        byte[] buffer = new byte[1 << 16];
        try {
          InputStream in = redis.getInputStream();
          for (int n; (n = in.read(buffer)) > 0; ) {
            long left = repliesFrom - System.nanoTime();
            if (repliesFrom != 0 && left > 0) {
              TimeUnit.NANOSECONDS.sleep(left);
            }
            client.getOutputStream().write(buffer, 0, n);
          }
        } catch (IOException | InterruptedException e) {
          // hung up
        }
        if (!holding) {
          cut();
        }
      }

      void cut() {
        try {
          client.close();
          redis.close();
        } catch (IOException e) {
          // closed already
        }
      }
    }
  }
}
