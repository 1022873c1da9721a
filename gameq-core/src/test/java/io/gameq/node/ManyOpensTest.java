package io.gameq.node;

import static io.gameq.servers.Waits.LONG;
import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OpenProgress;
import io.gameq.OpenResult;
import io.gameq.OwnerHeldException;
import io.gameq.OwnerSession;
import io.gameq.Row;
import io.gameq.config.Takeover;
import io.gameq.servers.GameDatabase;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
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
    database // the others have none in MySQL
        .server()
        .execute(
            IntStream.rangeClosed(1, PLAYERS)
                .filter(player -> player % 2 == 1)
                .mapToObj(player -> "(%s, %s)".formatted(player, player))
                .collect(joining(", ", "INSERT INTO pet (id, player_id) VALUES ", "")));
  }

  private GameQueue node(String name) {
    return GameQueue.open(
        TestNodes.on(database).namespace(namespace).node(name).walDirectory(directory).build());
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

  private static List<String> players(int from, int to) {
    return IntStream.rangeClosed(from, to).mapToObj(player -> "player:" + player).toList();
  }

  @Test
  void allAreOpenedAtOnceAndProgressIsToldOneAfterAnother() throws Exception {
    List<OpenProgress> told = new ArrayList<>(); // by one thread
    List<String> owners = new ArrayList<>(players(1, PLAYERS));
    owners.add("player:1");
    try (GameQueue queue = node("n1")) {
      List<OpenResult> all =
          get(queue.openAll(owners, Takeover.ALWAYS, told::add).toCompletableFuture());
      assertEquals(players(1, PLAYERS), all.stream().map(OpenResult::owner).toList());
      for (int player = 1; player <= PLAYERS; player++) {
        OwnerSession session = Objects.requireNonNull(all.get(player - 1).session());
        assertEquals("player:" + player, session.owner());
        assertEquals(player % 2, session.rows(Pet.class).size());
        session.put(new Pet(1_000_000 + player, player));
        session.commit().awaitQueued(LONG);
      }
      assertEquals(
          IntStream.rangeClosed(1, PLAYERS).boxed().toList(),
          told.stream().map(OpenProgress::open).toList());
      assertTrue(told.stream().allMatch(at -> at.all() == PLAYERS && at.failed() == 0));
      assertEquals(
          List.of(),
          get(queue.openAll(List.of(), Takeover.ALWAYS, told::add).toCompletableFuture()));
    }
  }

  @Test
  void ownersThatCannotBeOpenedFailAloneAndTheOthersAreOpen() throws Exception {
    try (GameQueue one = node("n1");
        GameQueue two = node("n2")) {
      one.open("player:7");
      List<String> owners = new ArrayList<>(players(1, 100));
      owners.add("player:x");
      owners.add("nobody");
      List<OpenResult> all =
          get(two.openAll(owners, Takeover.UNLESS_ALIVE, at -> {}).toCompletableFuture());
      assertEquals(
          List.of("player:7", "player:x", "nobody"),
          all.stream().filter(of -> !of.isOpen()).map(OpenResult::owner).toList());
      assertInstanceOf(OwnerHeldException.class, all.get(6).failure());
    }
  }

  @Test
  void whoPlaysAlreadyCommitsAndOthersOpenWhileThousandsLogIn() throws Exception {
    try (GameQueue queue = node("n1")) {
      OwnerSession playing = queue.open("player:100001");
      CountDownLatch begun = new CountDownLatch(1);
      CompletableFuture<List<OpenResult>> all =
          queue
              .openAll(players(1, 3_000), Takeover.ALWAYS, at -> begun.countDown())
              .toCompletableFuture();
      assertTrue(begun.await(LONG.toSeconds(), TimeUnit.SECONDS));
      playing.put(new Pet(1, 100_001));
      playing.commit().awaitQueued(LONG);
      OwnerSession alone =
          get(queue.openAsync("player:100002", Takeover.ALWAYS).toCompletableFuture());
      assertFalse(all.isDone(), "they did not wait for the crowd");
      alone.close();
      assertTrue(get(all).stream().allMatch(OpenResult::isOpen));
    }
  }

  @Test
  void aCrowdThatIsCancelledBeginsNoMoreAndIsToldOfAll() throws Exception {
    try (GameQueue queue = node("n1")) {
      List<OpenProgress> told = Collections.synchronizedList(new ArrayList<>());
      CompletableFuture<List<OpenResult>> all =
          queue.openAll(players(1, 3_000), Takeover.ALWAYS, told::add).toCompletableFuture();
      assertTrue(all.cancel(false));
      org.awaitility.Awaitility.await().atMost(LONG).until(() -> told.size() == 3_000);
      assertTrue(told.get(2_999).open() < 3_000, "no more are begun");
    }
  }

  @Test
  void progressThatThrowsStopsNobody() throws Exception {
    try (GameQueue queue = node("n1")) {
      List<OpenResult> all =
          get(
              queue
                  .openAll(
                      players(1, 100),
                      Takeover.ALWAYS,
                      at -> {
                        throw new IllegalStateException("the game's own");
                      })
                  .toCompletableFuture());
      assertTrue(all.stream().allMatch(OpenResult::isOpen));
    }
  }

  @Test
  void whatWaitsWhenTheNodeClosesIsTold() throws Exception {
    GameQueue queue = node("n1");
    List<CompletableFuture<OwnerSession>> opened = openAll(queue, Takeover.ALWAYS);
    CompletableFuture<List<OpenResult>> crowd =
        queue.openAll(players(1, 3_000), Takeover.ALWAYS, at -> {}).toCompletableFuture();
    queue.close();
    assertEquals(3_000, get(crowd).size());
    for (CompletableFuture<OwnerSession> open : opened) {
      try {
        get(open);
      } catch (Exception e) {
        assertInstanceOf(GameQueueException.class, e.getCause());
      }
    }
  }
}
