package io.gameq.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.ClosedException;
import io.gameq.ColumnName;
import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.Ids;
import io.gameq.OpenResult;
import io.gameq.OwnerHeldException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.RollbackRequiredException;
import io.gameq.Row;
import io.gameq.RowRefusedException;
import io.gameq.TableName;
import io.gameq.config.Takeover;
import io.gameq.topic.DeadLetter;
import io.gameq.topic.Message;
import io.gameq.topic.OwnerHandler;
import io.gameq.topic.Publish;
import io.gameq.topic.Retry;
import io.gameq.topic.Subscription;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** What a game may rely on, in memory and on real servers alike. */
@ContractTables
abstract class GameContract {
  private static final Duration TIME = Duration.ofSeconds(20);

  /** Owners, rows and topics that no other test has. */
  private static final AtomicLong IDS = new AtomicLong(1_000);

  @TableName("player")
  record Player(long id, String name, int gold) {}

  @TableName("player")
  record Gold(long id, int gold) {}

  @TableName("item")
  record Item(long id, @ColumnName("owner_id") long ownerId, long kind) {}

  @TableName("worn")
  record Worn(
      @ColumnName("owner_id") long ownerId, int place, @ColumnName("item_id") long itemId) {}

  record Order(String what) {}

  final long me = id();
  final long friend = id();

  static long id() {
    return IDS.incrementAndGet();
  }

  private GameQueue queue;
  private GameQueue other;
  private GameTime time;

  @BeforeEach
  void start(GameQueue one, GameQueue another, GameTime itsTime) {
    queue = one;
    other = another;
    time = itsTime;
  }

  OwnerSession open(long player) {
    return queue.open("player:" + player);
  }

  static void queued(CommitReceipt receipt) {
    receipt.awaitQueued(TIME);
  }

  /** Has a commit end with this, whether it is refused at once or by Redis. */
  static <E extends GameQueueException> E fails(
      Class<E> with, java.util.function.Supplier<CommitReceipt> commit) {
    return assertThrows(with, () -> commit.get().awaitQueued(TIME));
  }

  static String refusal(Executable change) {
    return String.valueOf(assertThrows(RowRefusedException.class, change).getMessage());
  }

  <T> Topic<Order> topic(TopicOptions options) {
    return queue.topic("t" + id(), Order.class, options);
  }

  /** What the pending message of a key says. */
  static String pending(Topic<Order> topic, String key) {
    return Objects.requireNonNull(topic.get(key).orElseThrow().payload()).what();
  }

  // --- rows

  @Test
  void bringsBackWhatWasCommitted() {
    try (OwnerSession session = open(me)) {
      session.put(new Player(me, "Ann", 100));
      queued(session.commit());
    }

    try (OwnerSession again = open(me)) {
      assertEquals(List.of(new Player(me, "Ann", 100)), again.rows(Player.class));
    }
  }

  @Test
  void keepsWhatIsDurableWhenTheSessionIsOpenedAnew() {
    try (OwnerSession session = open(me)) {
      session.put(new Player(me, "Ann", 1));
      queued(session.commit());
      assertEquals(Set.of(), session.awaitDurable(TIME));
      session.put(new Player(me, "Ann", 2));
      queued(session.commit());
      assertEquals(Set.of(), session.awaitDurable(TIME));
      assertEquals(Set.of(), session.notDurable());
    }

    assertEquals(List.of(new Player(me, "Ann", 2)), queue.read("player:" + me, Player.class));
  }

  @Test
  void fillsInDefaultsOfColumnsThatAreLeftOut() {
    try (OwnerSession session = open(me)) {
      session.put("player", Map.of("id", me, "name", "Ann"));
      queued(session.commit());
    }

    Row row = queue.read("player:" + me, "player").get(0);
    assertEquals(7, row.getLong("gold"));
    assertTrue(row.isNull("born"));
  }

  @Test
  void showsWhatIsStagedInCurrentAndNotInRows() {
    try (OwnerSession session = open(me)) {
      assertEquals(List.of(), session.current(Item.class));
      session.put(new Item(id(), me, 4));

      assertEquals(1, session.current(Item.class).size());
      assertEquals(List.of(), session.rows(Item.class));
      session.rollback();
      assertEquals(List.of(), session.current(Item.class));
    }
  }

  @Test
  void updatesSomeColumnsAndKeepsTheOthers() {
    try (OwnerSession session = open(me)) {
      var unused = session.current(Player.class);
      session.put(new Player(me, "Ann", 100));
      queued(session.commit());
      session.update(new Gold(me, 60));
      queued(session.commit());

      assertEquals(List.of(new Player(me, "Ann", 60)), session.current(Player.class));
    }
    assertEquals(List.of(new Player(me, "Ann", 60)), queue.read("player:" + me, Player.class));
  }

  @Test
  void deletesARowAndMakesItAnew() {
    long item = id();
    try (OwnerSession session = open(me)) {
      session.put("item", Map.of("id", item, "owner_id", me, "kind", 1, "note", "old"));
      queued(session.commit());
      session.delete(Item.class, item);
      queued(session.commit());
      assertEquals(List.of(), queue.read("player:" + me, Item.class));
      session.put(new Item(item, me, 2));
      queued(session.commit());
    }

    Row row = queue.read("player:" + me, "item").get(0);
    assertEquals(2, row.getLong("kind"));
    assertTrue(row.isNull("note"));
  }

  // --- refusals

  @Test
  void refusesATextThatIsTooLong() {
    try (OwnerSession session = open(me)) {
      String why = refusal(() -> session.put(new Player(me, "0123456789x", 1)));

      assertTrue(why.startsWith("player.name: "), why);
      assertThrows(RollbackRequiredException.class, session::commit);
      session.rollback();
      session.put(new Player(me, "0123456789", 1));
      queued(session.commit());
    }
  }

  @Test
  @SuppressWarnings("NullAway") // as a game whose compiler does not know of it
  void refusesNothingInPlaceOfARow() {
    try (OwnerSession session = open(me)) {
      String noRow = refusal(() -> session.put((Player) null));
      session.rollback();
      String noColumns = refusal(() -> session.put("player", null));
      session.rollback();
      GameQueue on = queue;
      String nobody =
          String.valueOf(
              assertThrows(GameQueueException.class, () -> on.open((String) null)).getMessage());

      assertTrue(noRow.startsWith("the row is null"), noRow);
      assertTrue(noColumns.startsWith("the map of columns of player is null"), noColumns);
      assertTrue(nobody.startsWith("the owner id is null"), nobody);
      assertThrows(RowRefusedException.class, () -> queue.send("player:1", (Player) null));
    }
  }

  @Test
  void refusesNullAndNumbersOutOfRange() {
    try (OwnerSession session = open(me)) {
      String isNull = refusal(() -> session.put("player", Map.of("id", me)));
      session.rollback();
      String negative = refusal(() -> session.put(new Item(id(), me, -1)));
      session.rollback();
      String unknown =
          String.valueOf(
              assertThrows(
                      GameQueueException.class,
                      () -> session.put("player", Map.of("id", me, "nam", "Ann")))
                  .getMessage());
      session.rollback();

      assertTrue(isNull.startsWith("player.name: "), isNull);
      assertTrue(negative.startsWith("item.kind: "), negative);
      assertTrue(unknown.contains("has no column nam (did you mean name?)"), unknown);
    }
  }

  @Test
  void refusesARowOfAnotherOwner() {
    try (OwnerSession session = open(me)) {
      String put = refusal(() -> session.put(new Item(id(), friend, 1)));
      session.rollback();
      String delete = refusal(() -> session.delete(Worn.class, friend, 1));
      session.rollback();

      assertEquals(
          "item: the row belongs to player:%s by its column owner_id, not to player:%s: put it in"
                  .formatted(friend, me)
              + " that owner's session, or move it there",
          put);
      assertTrue(delete.startsWith("worn: the key names another owner"), delete);
    }
  }

  @Test
  void refusesOwnersThatNoTableHas() {
    assertEquals(
        "no managed table has owners of kind 'gild'; known kinds: [player]",
        assertThrows(GameQueueException.class, () -> queue.open("gild:1")).getMessage());
    assertThrows(GameQueueException.class, () -> queue.open("player:042"));
    assertThrows(GameQueueException.class, () -> queue.read("player:1", "items"));
  }

  // --- several owners

  @Test
  void tradesBetweenTwoOwnersAsOne() {
    long item = id();
    try (OwnerSession mine = open(me);
        OwnerSession yours = open(friend)) {
      mine.put(new Item(item, me, 9));
      queued(mine.commit());
      mine.move(new Item(item, friend, 9), yours);
      yours.put(new Player(friend, "Bob", 50));
      assertThrows(GameQueueException.class, mine::commit); // half of a move
      mine.rollback();
      yours.rollback();

      mine.move(new Item(item, friend, 9), yours);
      yours.put(new Player(friend, "Bob", 50));
      queued(queue.commit(mine, yours));
      assertEquals(Set.of(), queue.drain(TIME));
    }

    assertEquals(List.of(), queue.read("player:" + me, Item.class));
    assertEquals(List.of(new Item(item, friend, 9)), queue.read("player:" + friend, Item.class));
  }

  @Test
  void commitsAChangeSetOrNothingOfIt() {
    try (OwnerSession mine = open(me);
        OwnerSession yours = open(friend)) {
      mine.put(new Player(me, "Ann", 1)); // staged beside the set

      assertThrows(
          IllegalStateException.class,
          () ->
              queue.transact(
                  mine,
                  yours,
                  tx -> {
                    tx.put(new Item(id(), me, 1));
                    throw new IllegalStateException("the game's own");
                  }));
      assertThrows(
          RowRefusedException.class,
          () -> queue.transact(mine, tx -> tx.put(new Item(id(), friend, 1))));
      GameQueueException staged =
          assertThrows(
              GameQueueException.class,
              () -> queue.transact(mine, tx -> tx.put(new Player(me, "Ann", 2))));
      queued(
          queue.transact(
              mine,
              yours,
              tx -> {
                tx.put(new Item(id(), me, 5));
                tx.put(new Item(id(), friend, 6));
              }));

      assertTrue(String.valueOf(staged.getMessage()).contains("is staged in the session"));
      assertEquals(1, queue.read("player:" + me, Item.class).size());
      assertEquals(6, queue.read("player:" + friend, Item.class).get(0).kind());
      assertEquals(List.of(), queue.read("player:" + me, Player.class));
      queued(mine.commit());
      assertEquals(1, queue.read("player:" + me, Player.class).size());
    }
  }

  @Test
  void keepsACommitOfSeveralSessionsTogetherWhenOneIsRefused() {
    try (OwnerSession mine = open(me);
        OwnerSession yours = open(friend)) {
      mine.put(new Player(me, "Ann", 1));
      yours.put(new Player(friend, "Bob", 1));
      refusal(() -> yours.put(new Player(friend, "01234567890", 1)));

      assertThrows(RollbackRequiredException.class, () -> queue.commit(mine, yours));
      assertThrows(RollbackRequiredException.class, mine::commit);
      mine.rollback();
      yours.rollback();
      mine.put(new Player(me, "Ann", 2));
      queued(mine.commit());
    }
    assertEquals(List.of(), queue.read("player:" + friend, Player.class));
  }

  // --- send

  @Test
  void sendsRowsToAnOwnerWhoIsNotOpen() {
    long item = id();
    queued(queue.send("player:" + friend, new Item(item, friend, 3)));

    assertEquals(List.of(new Item(item, friend, 3)), queue.read("player:" + friend, Item.class));
    try (OwnerSession session = open(friend)) {
      assertEquals(List.of(new Item(item, friend, 3)), session.rows(Item.class));
      session.delete(Item.class, item);
      queued(session.commit());
      assertEquals(Set.of(), queue.drain(TIME));
    }
    assertEquals(List.of(), queue.read("player:" + friend, Item.class));
  }

  @Test
  void tellsASessionOfRowsThatWereSent() {
    Queue<Item> came = new ConcurrentLinkedQueue<>();
    long item = id();
    try (OwnerSession yours = open(friend);
        OwnerSession mine = open(me)) {
      assertEquals(List.of(), yours.current(Item.class));
      yours.onSent(sent -> came.addAll(sent.rows(Item.class)));
      mine.put(new Player(me, "Ann", 1));
      mine.send("player:" + friend, new Item(item, friend, 3));
      queued(mine.commit());

      time.until(() -> !came.isEmpty());
      assertEquals(List.of(new Item(item, friend, 3)), List.copyOf(came));
      assertEquals(List.of(new Item(item, friend, 3)), yours.current(Item.class));
    }
  }

  @Test
  void refusesToSendWhatIsNotTheReceivers() {
    try (OwnerSession session = open(me)) {
      refusal(() -> queue.send("player:" + friend, new Item(id(), me, 1)));
      refusal(() -> session.send("player:" + me, new Item(id(), me, 1)));
      session.rollback();
    }
    Item twice = new Item(id(), friend, 1);
    refusal(() -> queue.send("player:" + friend, twice, twice));
  }

  @Test
  void setsARowAsideThatWasSentUnderAKeyInUse() {
    long item = id();
    try (OwnerSession mine = open(me)) {
      mine.put(new Item(item, me, 1));
      queued(mine.commit());
      assertEquals(Set.of(), mine.awaitDurable(TIME));
      queued(queue.send("player:" + friend, new Item(item, friend, 3)));
      assertEquals(Set.of(), queue.drain(TIME));
    }

    try (OwnerSession yours = open(friend)) {
      DeadLetter dead = yours.deadLetters().get(0);
      assertEquals("item:" + item, dead.key());
      assertEquals(DeadLetter.KEY_IN_USE, dead.errorCode());
      assertEquals(List.of(), yours.rows(Item.class));
    }
  }

  @Test
  void setsARowAsideThatAnotherOwnerHas() {
    long item = id();
    try (OwnerSession mine = open(me);
        OwnerSession yours = open(friend)) {
      mine.put(new Item(item, me, 1));
      queued(mine.commit());
      assertEquals(Set.of(), mine.awaitDurable(TIME));
      yours.put(new Item(item, friend, 2));
      queued(yours.commit());
      assertEquals(Set.of(), yours.awaitDurable(TIME));
    }

    try (OwnerSession yours = open(friend)) {
      assertEquals(DeadLetter.NOT_OWNER, yours.deadLetters().get(0).errorCode());
    }
    assertEquals(List.of(new Item(item, me, 1)), queue.read("player:" + me, Item.class));
  }

  // --- who owns

  @Test
  void losesASessionThatAnotherNodeTakesOver() throws Exception {
    OwnerSession mine = open(me);
    mine.put(new Player(me, "Ann", 1));
    queued(mine.commit());
    OwnerSession theirs = other.open("player:" + me);
    assertEquals(List.of(new Player(me, "Ann", 1)), theirs.rows(Player.class));

    mine.lost().toCompletableFuture().get(TIME.toSeconds(), TimeUnit.SECONDS);
    mine.put(new Player(me, "Ann", 2));
    fails(OwnershipLostException.class, mine::commit);
    theirs.put(new Player(me, "Ann", 3));
    queued(theirs.commit());

    mine.close();
    theirs.close();
    assertEquals(List.of(new Player(me, "Ann", 3)), queue.read("player:" + me, Player.class));
  }

  @Test
  void aTradeNamesTheOwnerWhoseSessionWasLost() throws Exception {
    try (OwnerSession mine = open(me);
        OwnerSession yours = open(friend);
        OwnerSession theirs = other.open("player:" + friend)) {
      OwnershipLostException lost = // by Redis, or known already
          fails(
              OwnershipLostException.class,
              () ->
                  queue.transact(
                      mine,
                      yours,
                      trade -> {
                        trade.put(new Player(me, "Ann", 1));
                        trade.put(new Player(friend, "Bob", 1));
                      }));

      assertEquals("player:" + friend, lost.owner());
      assertTrue(String.valueOf(lost.getMessage()).contains("no longer owns player:" + friend));
      yours.lost().toCompletableFuture().get(TIME.toSeconds(), TimeUnit.SECONDS);
      lost =
          fails(
              OwnershipLostException.class,
              () -> queue.transact(mine, yours, trade -> trade.put(new Player(friend, "Bob", 1))));
      assertEquals("player:" + friend, lost.owner());
      assertEquals(List.of(), theirs.rows(Player.class));
    }
  }

  @Test
  void losesASessionThatIsOpenedAgainOnTheSameNode() {
    OwnerSession first = open(me);
    OwnerSession second = open(me);
    first.put(new Player(me, "Ann", 1));

    fails(OwnershipLostException.class, first::commit);
    second.put(new Player(me, "Ann", 2));
    queued(second.commit());
    first.close();
    second.close();
  }

  @Test
  void leavesAnOwnerToWhoHasIt() {
    OwnerSession mine = open(me);

    OwnerHeldException held =
        assertThrows(
            OwnerHeldException.class, () -> other.open("player:" + me, Takeover.UNLESS_ALIVE));
    assertTrue(String.valueOf(held.getMessage()).startsWith("player:" + me + " is open "));
    mine.close();
    other.open("player:" + me, Takeover.UNLESS_ALIVE).close();
  }

  @Test
  void asksTheHolderToClose() {
    OwnerSession mine = open(me);
    var unused =
        mine.askedToClose()
            .thenRun(
                () -> {
                  mine.put(new Player(me, "Ann", 8));
                  mine.close(); // commits
                });

    try (OwnerSession theirs =
        other.open("player:" + me, Takeover.UNLESS_ALIVE, Duration.ofSeconds(20))) {
      assertEquals(List.of(new Player(me, "Ann", 8)), theirs.rows(Player.class));
    }
  }

  @Test
  void takesNothingMoreOnceItIsClosed() {
    OwnerSession session = open(me);
    session.put(new Player(me, "Ann", 1));
    session.close(); // commits what is staged
    session.close();

    assertThrows(ClosedException.class, () -> session.put(new Player(me, "Ann", 2)));
    assertThrows(ClosedException.class, session::commit);
    assertEquals(1, queue.read("player:" + me, Player.class).size());
  }

  @Test
  void opensManyOwners() throws Exception {
    AtomicInteger told = new AtomicInteger();
    List<OpenResult> results =
        queue
            .openAll(
                List.of("player:" + me, "player:" + friend, "gild:1"),
                Takeover.ALWAYS,
                progress -> told.incrementAndGet())
            .toCompletableFuture()
            .get(TIME.toSeconds(), TimeUnit.SECONDS);

    assertEquals(List.of(true, true, false), results.stream().map(OpenResult::isOpen).toList());
    assertEquals(3, told.get());
    results.stream()
        .filter(OpenResult::isOpen)
        .forEach(of -> Objects.requireNonNull(of.session()).close());
  }

  @Test
  void givesIdsOnce() {
    Ids ids = queue.ids("item");
    assertNotEquals(ids.next(), ids.next());
    assertThrows(GameQueueException.class, () -> queue.ids("item", 0));
    assertThrows(GameQueueException.class, () -> queue.ids("nothing"));
  }

  @Test
  void failsAnUnfinishedCommitOfMoreThanACommitTakes() {
    try (OwnerSession session = open(me)) {
      for (int i = 0; i < 1_000; i++) {
        session.put(new Worn(me, i, 1));
      }
      GameQueueException full =
          assertThrows(GameQueueException.class, () -> session.put(new Worn(me, 1_000, 1)));
      session.rollback();

      assertEquals(
          "this change would make a commit of 1,001 rows and messages, the limit is 1,000: commit"
              + " in smaller steps, or raise maxCommit",
          full.getMessage());
    }
  }

  // --- topics

  @Test
  void refusesToSayTwiceWhenAMessageIsDue() {
    Topic<Order> topic = topic(TopicOptions.DEFAULT);
    Publish<Order> order = Publish.of("tax", new Order("x"));
    Publish<Order> atFour = order.cron("0 4 * * *", java.time.ZoneOffset.UTC);
    Duration soon = Duration.ofSeconds(1);

    assertEquals(
        "message "
            + topic.name()
            + "/tax recurs by cron, which says when it is due: publish it"
            + " without 'after'",
        assertThrows(GameQueueException.class, () -> topic.publish(atFour.after(soon)))
            .getMessage());
    assertThrows(
        GameQueueException.class,
        () ->
            topic.publish(
                order.at(java.time.Instant.EPOCH).cron("0 4 * * *", java.time.ZoneOffset.UTC)));
    assertThrows(GameQueueException.class, () -> topic.publish(atFour.window(soon)));
    assertThrows(GameQueueException.class, () -> topic.publish(order.every(soon).window(soon)));
    queued(topic.publish(order.every(soon).after(Duration.ofHours(1))));
    queued(topic.publish(atFour));
  }

  @Test
  void handlesAMessageThatIsDue() {
    Queue<String> handled = new ConcurrentLinkedQueue<>();
    Topic<Order> topic = topic(TopicOptions.DEFAULT);
    queued(topic.publish("a", new Order("first")));
    try (Subscription ours = topic.subscribe(of -> handled.add(of.key() + of.payload().what()))) {
      time.until(() -> handled.contains("afirst"));
      queued(topic.publish("b", new Order("second")));
      time.until(() -> handled.contains("bsecond"));
      time.until(() -> ours.counts().handled() == 2);
    }
    assertEquals(0, topic.counts().pending());
  }

  @Test
  void replacesAPendingMessageOfTheSameKey() {
    Queue<String> handled = new ConcurrentLinkedQueue<>();
    Topic<Order> topic = topic(TopicOptions.DEFAULT);
    queued(topic.publish(Publish.of("a", new Order("old")).after(Duration.ofHours(1))));
    queued(topic.publish(Publish.of("a", new Order("new")).after(Duration.ofMillis(100))));
    assertEquals(1, topic.counts().pending());
    assertEquals("new", pending(topic, "a"));

    try (Subscription ours = topic.subscribe(of -> handled.add(of.payload().what()))) {
      time.until(() -> !handled.isEmpty());
      assertEquals(List.of("new"), List.copyOf(handled));
    }
  }

  @Test
  void mergesRetimesAndDeletesPendingMessages() {
    Topic<Order> topic = topic(TopicOptions.DEFAULT);
    Publish<Order> later = Publish.of("a", new Order("1")).after(Duration.ofHours(1));
    topic.merge(later, (a, b) -> new Order(a.what() + b.what()));
    topic.merge(later, (a, b) -> new Order(a.what() + b.what()));
    assertEquals("11", pending(topic, "a"));
    queued(topic.publish(Publish.of("b", new Order("x")).after(Duration.ofHours(1))));
    queued(topic.delete("b"));
    assertTrue(topic.get("b").isEmpty());

    queued(topic.retime("a", Duration.ZERO));
    Queue<String> handled = new ConcurrentLinkedQueue<>();
    try (Subscription ours = topic.subscribe(of -> handled.add(of.payload().what()))) {
      time.until(() -> handled.contains("11"));
    }
  }

  @Test
  void publishesIfAbsentUnlessAMessageOfItsKeyIsPendingOrHeld() {
    Topic<Order> topic = topic(TopicOptions.DEFAULT);
    Publish<Order> first = Publish.of("a", new Order("1")).after(Duration.ofHours(1));
    assertTrue(topic.publishIfAbsent(first));
    assertFalse(topic.publishIfAbsent(Publish.of("a", new Order("2"))));
    assertEquals("1", pending(topic, "a"));
    queued(topic.retime("a", Duration.ZERO));
    Queue<Boolean> published = new ConcurrentLinkedQueue<>();
    try (Subscription ours = topic.subscribe(of -> published.add(topic.publishIfAbsent(first)))) {
      time.until(() -> !published.isEmpty());
    }
    assertEquals(List.of(false), List.copyOf(published));
    assertTrue(topic.publishIfAbsent(first));
  }

  @Test
  void handlesAGroupOneAfterAnother() {
    Queue<String> handled = new ConcurrentLinkedQueue<>();
    Topic<Order> topic =
        topic(TopicOptions.DEFAULT.retry(Retry.fixed(Duration.ofMillis(100)).attempts(3)));
    for (String key : List.of("a", "b", "c")) {
      queued(topic.publish(Publish.of(key, new Order(key)).group("g")));
    }
    AtomicInteger inHand = new AtomicInteger();
    try (Subscription ours =
        topic.subscribe(
            of -> {
              assertEquals(1, inHand.incrementAndGet());
              handled.add(of.payload().what() + of.group());
              inHand.decrementAndGet();
            })) {
      time.until(() -> handled.size() == 3);
      assertEquals(Set.of("ag", "bg", "cg"), Set.copyOf(handled));
    }
  }

  @Test
  void triesAgainAndThenSetsAMessageAside() {
    AtomicInteger attempts = new AtomicInteger();
    Topic<Order> topic =
        topic(TopicOptions.DEFAULT.retry(Retry.fixed(Duration.ofMillis(100)).attempts(3)));
    queued(topic.publish("a", new Order("x")));
    Subscription ours =
        topic.subscribe(
            of -> {
              assertEquals(attempts.incrementAndGet(), of.attempt());
              throw new IllegalStateException("no");
            });
    time.until(() -> topic.counts().dead() == 1);
    ours.close();

    Message<Order> dead = topic.list(Message.State.DEAD).messages().get(0);
    assertEquals(3, attempts.get());
    assertEquals("java.lang.IllegalStateException: no", dead.error());
    assertEquals(3, dead.attempts());
    assertTrue(topic.retryDead(dead, new Order("mended")));
    assertFalse(topic.retryDead(dead));
    Queue<String> handled = new ConcurrentLinkedQueue<>();
    try (Subscription again =
        topic.subscribe(of -> handled.add(of.payload().what() + of.attempt()))) {
      time.until(() -> handled.contains("mended1"));
    }
  }

  @Test
  void recursUntilItsLastOccurrence() {
    Queue<String> handled = new ConcurrentLinkedQueue<>();
    Topic<Order> topic = topic(TopicOptions.DEFAULT);
    try (Subscription ours = topic.subscribe(of -> handled.add(of.key()))) {
      queued(
          topic.publish(Publish.of("tick", new Order("t")).every(Duration.ofMillis(200)).count(3)));
      time.until(() -> topic.counts().pending() + topic.counts().held() == 0);
    }
    assertTrue(handled.size() >= 1 && handled.size() <= 3, handled::toString);
  }

  @Test
  void publishesWithRowsOrNotAtAll() {
    Topic<Order> topic = topic(TopicOptions.DEFAULT);
    try (OwnerSession session = open(me)) {
      session.put(new Player(me, "Ann", 1));
      session.publish(topic, "a", new Order("x"));
      session.rollback();
      assertTrue(topic.get("a").isEmpty());
      session.put(new Player(me, "Ann", 1));
      session.publish(topic, "a", new Order("x"));
      queued(session.commit());
      assertEquals("x", pending(topic, "a"));
    }
  }

  @Test
  void acknowledgesWithWhatASessionHasStaged() {
    Topic<Order> topic =
        topic(TopicOptions.DEFAULT.retry(Retry.fixed(Duration.ofMillis(100)).attempts(3)));
    OwnerSession session = open(me);
    queued(topic.publish("a", new Order("x")));
    AtomicInteger attempts = new AtomicInteger();
    try (Subscription ours =
        topic.subscribe(
            of -> {
              if (attempts.incrementAndGet() == 1) {
                throw new IllegalStateException("before it commits");
              }
              session.put(new Player(me, "Ann", attempts.get()));
              var unused = of.ackWith(session);
            })) {
      time.until(() -> ours.counts().handled() == 1);
    }

    assertEquals(List.of(new Player(me, "Ann", 2)), queue.read("player:" + me, Player.class));
    assertEquals(0, topic.counts().pending() + topic.counts().held());
    session.close();
  }

  @Test
  void acknowledgesWithAChangeSetOfItsOwn() {
    Topic<Order> topic = topic(TopicOptions.DEFAULT);
    Topic<Order> receipts = topic(TopicOptions.DEFAULT);
    long item = id();
    OwnerSession session = open(me);
    session.put(new Player(me, "Ann", 1)); // stays staged
    queued(topic.publish("a", new Order("x")));
    try (Subscription ours =
        topic.subscribe(
            of -> {
              var unused =
                  of.ackWith(
                      tx -> {
                        tx.put(new Item(item, me, 1));
                        tx.publish(receipts, "r", new Order("done"));
                        tx.send("player:" + friend, new Item(item + 1_000_000, friend, 2));
                      },
                      session);
            })) {
      time.until(() -> ours.counts().handled() == 1);
    }

    assertEquals(List.of(new Item(item, me, 1)), queue.read("player:" + me, Item.class));
    assertEquals(1, queue.read("player:" + friend, Item.class).size());
    assertEquals("done", pending(receipts, "r"));
    assertEquals(List.of(), queue.read("player:" + me, Player.class));
    queued(session.commit());
    assertEquals(1, queue.read("player:" + me, Player.class).size());
    session.close();
  }

  private static final TopicOptions OF_OWNERS =
      TopicOptions.DEFAULT.ofOwners().retry(Retry.fixed(Duration.ofMillis(100)));

  /** Adds one to the gold of the owner's row. */
  private static OwnerHandler<Order> pays(Queue<String> handled) {
    return (owner, order, tx) -> {
      int gold = owner.rows(Player.class).stream().mapToInt(Player::gold).sum();
      tx.put(
          new Player(
              Long.parseLong(owner.owner().substring("player:".length())),
              order.payload().what(),
              gold + 1));
      handled.add(order.key());
    };
  }

  @Test
  void handlesAnOwnersMessagesByItsSession() {
    Topic<Order> topic = topic(OF_OWNERS);
    for (String key : List.of("a", "b", "c")) {
      queued(topic.publish(Publish.of(key, new Order(key)).owner("player:" + me)));
    }
    Queue<String> handled = new ConcurrentLinkedQueue<>();
    OwnerSession session = open(me);
    session.handle(topic, Runnable::run, pays(handled));
    time.until(() -> topic.counts().pending() + topic.counts().held() == 0);

    assertEquals(List.of("a", "b", "c"), List.copyOf(handled));
    assertEquals(List.of(new Player(me, "c", 1)), queue.read("player:" + me, Player.class));
    session.close();
    queued(topic.publish(Publish.of("d", new Order("d")).owner("player:" + me)));
    assertEquals(1, topic.counts().pending());
  }

  @Test
  void leavesAnOwnersMessagesToTheNodeThatTookItOver() {
    String name = "t" + id();
    Topic<Order> here = queue.topic(name, Order.class, OF_OWNERS);
    Topic<Order> there = other.topic(name, Order.class, OF_OWNERS);
    Queue<String> ours = new ConcurrentLinkedQueue<>();
    Queue<String> theirs = new ConcurrentLinkedQueue<>();
    OwnerSession first = open(me);
    first.handle(here, Runnable::run, pays(ours));
    OwnerSession second = other.open("player:" + me);
    second.handle(there, Runnable::run, pays(theirs));
    queued(here.publish(Publish.of("a", new Order("a")).owner("player:" + me)));
    time.until(() -> here.counts().pending() + here.counts().held() == 0);

    assertEquals(List.of("a"), List.copyOf(theirs));
    assertEquals(1, queue.read("player:" + me, Player.class).size());
    first.close();
    second.close();
  }

  @Test
  void opensOwnersWhoseMessagesNobodyHandles() {
    Topic<Order> topic = topic(OF_OWNERS);
    Queue<String> handled = new ConcurrentLinkedQueue<>();
    queued(topic.publish(Publish.of("a", new Order("a")).owner("player:" + me)));
    queued(topic.publish(Publish.of("b", new Order("b")).owner("player:" + me)));
    try (Subscription opens = topic.subscribeOwners(pays(handled))) {
      time.until(() -> opens.counts().handled() == 2);
    }
    assertEquals(List.of("a", "b"), List.copyOf(handled));
    assertEquals(List.of(new Player(me, "b", 2)), queue.read("player:" + me, Player.class));
  }

  @Test
  void refusesWhatDoesNotFitATopicOfOwners() {
    Topic<Order> topic = topic(OF_OWNERS);
    Topic<Order> plain = topic(TopicOptions.DEFAULT);
    OwnerSession session = open(me);
    assertThrows(GameQueueException.class, () -> topic.publish("a", new Order("a")));
    assertThrows(
        GameQueueException.class,
        () -> topic.publish(Publish.of("a", new Order("a")).owner("nobody")));
    assertThrows(GameQueueException.class, () -> topic.subscribe(of -> {}));
    assertThrows(
        GameQueueException.class, () -> plain.subscribeOwners(pays(new ConcurrentLinkedQueue<>())));
    assertThrows(
        GameQueueException.class,
        () -> session.handle(plain, Runnable::run, pays(new ConcurrentLinkedQueue<>())));
    session.close();
    assertThrows(
        ClosedException.class,
        () -> session.handle(topic, Runnable::run, pays(new ConcurrentLinkedQueue<>())));
  }

  @Test
  void refusesATopicThatIsDefinedDifferently() {
    String name = "t" + id();
    Topic<Order> unused = queue.topic(name, Order.class);
    GameQueueException why =
        assertThrows(
            GameQueueException.class,
            () -> other.topic(name, Order.class, TopicOptions.DEFAULT.lease(Duration.ofHours(1))));
    assertTrue(
        String.valueOf(why.getMessage())
            .startsWith("topic '" + name + "' is defined differently in MySQL: "));
    assertThrows(GameQueueException.class, () -> queue.topic("No", Order.class));
  }

  @Test
  void refusesMessagesThatAreNotFit() {
    Topic<Order> topic = topic(TopicOptions.DEFAULT.payloadBytes(20));
    assertThrows(GameQueueException.class, () -> topic.publish("", new Order("x")));
    assertThrows(GameQueueException.class, () -> topic.publish("a", new Order("x".repeat(30))));
    assertThrows(
        GameQueueException.class, () -> topic.publish(Publish.of("a", new Order("x")).priority(1)));
    assertThrows(
        GameQueueException.class,
        () ->
            topic.publish(
                Publish.of("a", new Order("x")).cron("every day", java.time.ZoneOffset.UTC)));
    assertEquals(0, topic.counts().pending());
  }
}
