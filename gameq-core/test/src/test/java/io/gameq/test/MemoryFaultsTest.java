package io.gameq.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.ClosedException;
import io.gameq.CommitPendingException;
import io.gameq.CommitReceipt;
import io.gameq.CommitUnknownException;
import io.gameq.DeadLetterException;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.MySqlUnavailableException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.RedisFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.test.GameContract.Order;
import io.gameq.test.GameContract.Player;
import io.gameq.topic.DeadLetter;
import io.gameq.topic.Publish;
import io.gameq.topic.Subscription;
import io.gameq.topic.Topic;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Faults on demand, and the clock. */
@ContractTables
class MemoryFaultsTest {
  private static final Duration AT_ONCE = Duration.ZERO;

  private final MemoryServers servers;
  private final MemoryFaults faults;
  private final GameQueue queue;
  private OwnerSession ann;

  MemoryFaultsTest(MemoryServers servers, MemoryFaults faults, GameQueue queue) {
    this.servers = servers;
    this.faults = faults;
    this.queue = queue;
    this.ann = queue.open("player:1");
  }

  private CommitReceipt put(int gold) {
    ann.put(new Player(1, "Ann", gold));
    return ann.commit();
  }

  private List<Player> there() {
    return queue.read("player:1", Player.class);
  }

  @Test
  void failsCommitsWhileRedisIsFull() {
    faults.redisIsFull();
    assertThrows(RedisFullException.class, () -> put(1).awaitQueued(AT_ONCE));
    faults.clear();
    assertTrue(ann.lost().toCompletableFuture().isDone());
    assertThrows(ClosedException.class, () -> put(2)); // memory may be ahead of the rows
    ann = queue.open("player:1");
    put(3).awaitDurable(AT_ONCE);

    assertEquals(List.of(new Player(1, "Ann", 3)), there());
  }

  @Test
  void tellsNobodyThatASessionIsLostWhoseLastCommitFailed() {
    faults.redisIsFull();
    CompletableFuture<Void> lost = ann.lost().toCompletableFuture();
    ann.put(new Player(1, "Ann", 1));

    assertThrows(
        RedisFullException.class, ann::close); // a login may follow, which lost() would end
    assertFalse(lost.isDone());
    assertFalse(ann.lost().toCompletableFuture().isDone());
  }

  @Test
  void awaitsCommitsOfWhichAnotherThreadTells() {
    IntStream.range(0, 4)
        .mapToObj(
            player ->
                CompletableFuture.runAsync(
                    () -> {
                      OwnerSession session = queue.open("player:" + (10 + player));
                      for (int i = 0; i < 5_000; i++) {
                        session.put(new Player(10 + player, "Ann", i));
                        session.commit().awaitQueued(Duration.ofMinutes(1));
                      }
                    }))
        .toList()
        .forEach(CompletableFuture::join);
    assertEquals(4_999, queue.read("player:13", Player.class).get(0).gold());
  }

  @Test
  void keepsCommitsInTheWalWhileRedisIsAway() {
    faults.redisIsAway();
    CommitReceipt receipt = put(1);

    assertTrue(receipt.journaled().isDone());
    assertFalse(receipt.queued().isDone());
    assertThrows(CommitPendingException.class, () -> receipt.awaitQueued(Duration.ofHours(1)));
    assertThrows(RedisUnavailableException.class, this::there);
    assertThrows(RedisUnavailableException.class, () -> queue.open("player:2"));
    assertEquals(Set.of("player:1"), ann.notDurable());
    faults.redisIsBack();
    receipt.awaitDurable(AT_ONCE);
    assertEquals(List.of(new Player(1, "Ann", 1)), there());
  }

  @Test
  void losesASession() {
    servers.takeOver("player:1");

    assertTrue(ann.lost().toCompletableFuture().isDone());
    assertThrows(OwnershipLostException.class, () -> put(1).awaitQueued(AT_ONCE));
  }

  @Test
  void leavesTheOutcomeOfOneCommitUnknown() {
    faults.nextOutcomeIsUnknown(false);
    assertThrows(CommitUnknownException.class, () -> put(1).awaitQueued(AT_ONCE));
    assertEquals(List.of(), there());
    ann = queue.open("player:1");
    faults.nextOutcomeIsUnknown(true);
    assertThrows(CommitUnknownException.class, () -> put(2).awaitQueued(AT_ONCE));
    assertEquals(List.of(new Player(1, "Ann", 2)), there());
    ann = queue.open("player:1");
    put(3).awaitQueued(AT_ONCE);
  }

  @Test
  void holdsBackWhatIsDurable() {
    faults.mySqlIsSlow();
    CommitReceipt receipt = put(1);
    assertTrue(receipt.queued().isDone());
    assertFalse(receipt.durable().isDone());
    assertTrue(
        assertThrows(CommitPendingException.class, () -> receipt.awaitDurable(AT_ONCE))
            .getMessage()
            .endsWith("; MySQL is slow or away, a fault of the test"));
    servers.flush();
    assertEquals(Set.of("player:1"), queue.drain(AT_ONCE));
    assertEquals(List.of(new Player(1, "Ann", 1)), there());

    OwnerSession again = queue.open("player:1"); // takes over what waits
    assertEquals(List.of(new Player(1, "Ann", 1)), again.rows(Player.class));
    assertEquals(Set.of("player:1"), again.notDurable());
    faults.mySqlIsBack();
    assertTrue(receipt.durable().isDone());
    assertEquals(Set.of(), again.notDurable());
  }

  @Test
  void doesNotOpenWhileMySqlIsAway() {
    faults.mySqlIsAway();
    assertThrows(MySqlUnavailableException.class, () -> queue.open("player:2"));
    faults.mySqlIsBack();
    queue.open("player:2").close();
  }

  @Test
  void setsARowAsideThatMySqlRefuses() {
    put(1).awaitDurable(AT_ONCE);
    faults.mySqlRefuses("player:1", 3819, "Check constraint 'rich' is violated.");
    CompletionException failed =
        assertThrows(CompletionException.class, () -> put(2).durable().join());
    assertInstanceOf(DeadLetterException.class, failed.getCause());

    OwnerSession again = queue.open("player:1");
    DeadLetter dead = again.deadLetters().get(0);
    assertEquals(3819, dead.errorCode());
    assertEquals(2, Objects.requireNonNull(dead.row()).getLong("gold"));
    assertEquals(List.of(new Player(1, "Ann", 1)), again.rows(Player.class));
    faults.clear();
    again.put(new Player(1, "Ann", 3));
    again.commit().awaitDurable(AT_ONCE);
    assertEquals(List.of(), queue.open("player:1").deadLetters());
  }

  @Test
  void handlesADayOfTimersInOrder() {
    List<String> handled = new ArrayList<>();
    Topic<Order> topic = queue.topic("timers", Order.class);
    try (Subscription ours =
        topic.subscribe(
            of ->
                handled.add(
                    of.key()
                        + " "
                        + servers.clock().instant().atZone(ZoneOffset.UTC).toLocalTime()))) {
      topic.publish(Publish.of("reset", new Order("x")).cron("0 4 * * *", ZoneOffset.UTC));
      topic.publish(Publish.of("palace", new Order("x")).after(Duration.ofHours(8)));
      servers.clock().advance(Duration.ofHours(7));
      assertEquals(List.of(), handled);
      servers.clock().to(LocalTime.of(4, 0));
      assertEquals(List.of("palace 20:00", "reset 04:00"), handled);
      servers.clock().advance(Duration.ofDays(2));
      assertEquals(4, handled.size());
    }
  }

  @Test
  void refusesWhatIsNotDoneInMemory() {
    Topic<Order> topic = queue.topic("timers", Order.class);
    assertEquals(
        "Topic.claims is not done in memory: test it on real servers, see the page of gameq-test",
        assertThrows(GameQueueException.class, topic::claims).getMessage());
  }

  @Test
  void saysWhatOfASchemaIsNotUnderstood() {
    assertTrue(
        refusal("CREATE TABLE a (id BIGINT NOT NULL PRIMARY KEY SRID 4326)")
            .startsWith("the CREATE TABLE of a.id cannot be read (at 'SRID')"));
    assertTrue(
        refusal("CREATE TABLE a (id BIGINT NOT NULL PRIMARY KEY); ALTER TABLE a ADD b INT")
            .startsWith("the schema alters table a, "));
    assertTrue(
        refusal("CREATE TABLE a (id BIGINT NOT NULL, name POINT, PRIMARY KEY (id))")
            .contains("a table cannot be managed: a: column name: "));
    assertTrue(
        refusal("CREATE TABLE b (id BIGINT)").contains("no such table in the schema of the test"));
    assertTrue(
        refusal("CREATE TABLE a (id VARCHAR(9) NOT NULL PRIMARY KEY)").contains("collation"));
  }

  private static String refusal(String ddl) {
    TestSchema schema = TestSchema.of(ddl).table("a", "player", "id");
    return String.valueOf(
        assertThrows(GameQueueException.class, () -> MemoryServers.of(schema)).getMessage());
  }
}
