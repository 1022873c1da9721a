package io.gameq.node;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueConfig;
import io.gameq.GameQueueException;
import io.gameq.OwnerHeldException;
import io.gameq.OwnerSession;
import io.gameq.Row;
import io.gameq.Takeover;
import io.gameq.rights.Role;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.servers.Waits;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Owners that are opened, and read, many at a time. */
class ManyOpensTest {
  private static final int PLAYERS = 300;

  record Pet(long id, long playerId) {}

  @TempDir Path directory;

  private final String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);
  private GameDatabase database;

  @BeforeEach
  void createTables() throws Exception {
    database =
        GameDatabase.create("many")
            .table(
                "pet",
                "player",
                "player_id",
                "id BIGINT PRIMARY KEY, player_id BIGINT NOT NULL, KEY (player_id)");
    for (int player = 1; player <= PLAYERS; player += 2) { // the others have none in MySQL
      database
          .server()
          .execute("INSERT INTO pet (id, player_id) VALUES (%d, %d)".formatted(player, player));
    }
  }

  private GameQueue node(String name) {
    return GameQueue.open(
        GameQueueConfig.builder()
            .callTimeout(Waits.CALL)
            .redis(TestServers.redisUri(Role.NODE))
            .mysql(
                database.server().jdbcUrl(),
                database.as(Role.NODE).user(),
                database.as(Role.NODE).password())
            .namespace(namespace)
            .node(name)
            .walDirectory(directory)
            .build());
  }

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(LONG.toSeconds(), TimeUnit.SECONDS);
  }

  private static List<CompletableFuture<OwnerSession>> openAll(GameQueue queue, Takeover takeover) {
    List<CompletableFuture<OwnerSession>> all = new ArrayList<>();
    for (int player = 1; player <= PLAYERS; player++) {
      all.add(queue.openAsync("player:" + player, takeover).toCompletableFuture());
    }
    return all;
  }

  @Test
  void eachHasItsOwnRowsAndCommits() throws Exception {
    try (GameQueue queue = node("n1")) {
      List<CompletableFuture<OwnerSession>> opened = openAll(queue, Takeover.ALWAYS);
      List<CommitReceipt> receipts = new ArrayList<>();
      for (int player = 1; player <= PLAYERS; player++) {
        OwnerSession session = get(opened.get(player - 1));
        assertEquals("player:" + player, session.owner());
        assertEquals(
            player % 2 == 1 ? List.of(new Pet(player, player)) : List.of(),
            session.rows(Pet.class));
        session.put(new Pet(1_000_000 + player, player));
        receipts.add(session.commit());
      }
      for (CommitReceipt receipt : receipts) {
        receipt.awaitQueued(LONG);
      }
      List<CompletableFuture<List<Row>>> read = new ArrayList<>();
      for (int player = 1; player <= PLAYERS; player++) {
        read.add(queue.readAsync("player:" + player, "pet").toCompletableFuture());
      }
      for (int player = 1; player <= PLAYERS; player++) {
        assertEquals(player % 2 + 1, get(read.get(player - 1)).size(), "of player " + player);
      }
    }
  }

  @Test
  void oneThatIsHeldElsewhereIsRefusedAndTheOthersAreOpened() throws Exception {
    try (GameQueue one = node("n1");
        GameQueue two = node("n2")) {
      one.open("player:7");
      List<CompletableFuture<OwnerSession>> opened = openAll(two, Takeover.UNLESS_ALIVE);
      for (int player = 1; player <= PLAYERS; player++) {
        CompletableFuture<OwnerSession> open = opened.get(player - 1);
        if (player == 7) {
          assertInstanceOf(
              OwnerHeldException.class,
              assertThrows(ExecutionException.class, () -> get(open)).getCause());
        } else {
          assertEquals("player:" + player, get(open).owner());
        }
      }
    }
  }

  @Test
  void anIdThatDoesNotFitIsRefusedAtOnce() {
    try (GameQueue queue = node("n1")) {
      assertThrows(GameQueueException.class, () -> queue.openAsync("player:x", Takeover.ALWAYS));
      assertThrows(GameQueueException.class, () -> queue.openAsync("guild:1", Takeover.ALWAYS));
      assertThrows(GameQueueException.class, () -> queue.readAsync("player:1", "nothing"));
    }
  }

  @Test
  void aSessionThatComesAfterItWasCancelledIsClosed() throws Exception {
    try (GameQueue queue = node("n1");
        GameQueue other = node("n2")) {
      CompletableFuture<OwnerSession> open =
          queue.openAsync("player:1", Takeover.ALWAYS).toCompletableFuture();
      assertTrue(open.cancel(false));
      get(queue.openAsync("player:2", Takeover.ALWAYS).toCompletableFuture());
      org.awaitility.Awaitility.await()
          .atMost(LONG)
          .ignoreException(OwnerHeldException.class)
          .until(() -> other.open("player:1", Takeover.UNLESS_ALIVE) != null);
    }
  }

  @Test
  void whatWaitsWhenTheNodeClosesIsTold() {
    GameQueue queue = node("n1");
    List<CompletableFuture<OwnerSession>> opened = openAll(queue, Takeover.ALWAYS);
    queue.close();
    for (CompletableFuture<OwnerSession> open : opened) {
      try {
        get(open);
      } catch (Exception e) {
        assertInstanceOf(GameQueueException.class, e.getCause());
      }
    }
  }
}
