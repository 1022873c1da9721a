package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.writer.service.WriterService;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Rows that are sent while their owner is opened, closed and taken over all the time. */
class SendWhileOwnersMoveTest extends RedisLossFixture {
  private static final String OWNER = "player:1";
  private static final int SENDERS = 2;

  /** Rows are sent until the owner was opened so often, by each sender about so many for each. */
  private static final int OPENS = 20;

  private static final int ROWS_FOR_AN_OPEN = 20;
  private static final long IDS_OF_A_SENDER = 1_000_000;

  private static final long PAUSE_NANOS = 1_000_000;

  /** Of what a session knows, it deletes one in so many. */
  private static final int DELETED_ONE_IN = 5;

  private final Set<Long> acknowledged = ConcurrentHashMap.newKeySet();
  private final Set<Long> deleted = ConcurrentHashMap.newKeySet();
  private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
  private final AtomicInteger sending = new AtomicInteger(SENDERS);
  private final AtomicInteger opens = new AtomicInteger();
  private final AtomicInteger told = new AtomicInteger();

  /** Sends rows under keys of its own: alone, or several at a time. */
  private Void send(GameQueue node, long firstId, Random random) {
    List<CommitReceipt> receipts = new ArrayList<>();
    try {
      long id = firstId;
      while (opens.get() < OPENS) {
        if (id - firstId > (1L + opens.get()) * ROWS_FOR_AN_OPEN) {
          LockSupport.parkNanos(PAUSE_NANOS);
          continue;
        }
        Pet[] pets = new Pet[1 + random.nextInt(3)];
        for (int i = 0; i < pets.length; i++) {
          pets[i] = new Pet(id++, 1, "sent");
        }
        CommitReceipt receipt = node.send(OWNER, pets);
        receipt.awaitQueued(LONG);
        for (Pet pet : pets) {
          acknowledged.add(pet.id());
        }
        receipts.add(receipt);
      }
    } finally {
      sending.decrementAndGet();
    }
    receipts.forEach(receipt -> receipt.awaitDurable(LONG));
    return null;
  }

  /**
   * Opens the owner, who is taken from the other node; deletes some rows, closes it or leaves it
   * open.
   */
  private Void holdNowAndThen(GameQueue node, Random random) {
    while (sending.get() > 0) {
      try {
        Set<Long> before = Set.copyOf(deleted);
        OwnerSession session = node.open(OWNER);
        opens.incrementAndGet();
        Set<Long> known = knownOf(session, before);
        for (int i = random.nextInt(4); i > 0; i--) {
          deleteSome(session, known);
        }
        if (random.nextBoolean()) {
          session.close();
        }
      } catch (GameQueueException e) {
        // the other node was quicker
      }
    }
    return null;
  }

  private Set<Long> knownOf(OwnerSession session, Set<Long> before) {
    Set<Long> known = ConcurrentHashMap.newKeySet();
    session.rows(Pet.class).forEach(pet -> known.add(pet.id()));
    known.stream()
        .filter(before::contains)
        .forEach(id -> wrong.add("an open saw " + id + ", which was deleted before"));
    session.onSent(
        rows ->
            rows.rows(Pet.class)
                .forEach(
                    pet -> {
                      told.incrementAndGet();
                      if (!known.add(pet.id())) {
                        wrong.add("a session was told again of " + pet.id());
                      }
                    }));
    return known;
  }

  private void deleteSome(OwnerSession session, Set<Long> known) {
    Set<Long> some = new HashSet<>();
    known.stream()
        .filter(id -> id % DELETED_ONE_IN == 0 && !deleted.contains(id))
        .forEach(some::add);
    some.forEach(id -> session.delete(Pet.class, id));
    session.commit().awaitQueued(LONG);
    deleted.addAll(some);
  }

  /** Whoever has the owner last knows of every row, by the open or because it was told. */
  @Test
  void nothingIsLostOrDoubledWhileTheOwnerComesAndGoes() throws Exception {
    long seed = Long.getLong("gameq.seed", new Random().nextLong());
    System.out.println("rows sent while their owner moves: seed " + seed);
    Random random = new Random(seed);
    ExecutorService threads = Executors.newFixedThreadPool(SENDERS + 2);
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2");
        GameQueue three = game.node("n3");
        GameQueue four = game.node("n4");
        WriterService writer = game.writer("w1")) {
      List<Callable<Void>> work = new ArrayList<>();
      for (GameQueue node : List.of(one, two)) {
        Random its = new Random(random.nextLong());
        work.add(() -> holdNowAndThen(node, its));
      }
      for (GameQueue node : List.of(three, four)) {
        Random its = new Random(random.nextLong());
        long firstId = 1 + (long) work.size() * IDS_OF_A_SENDER;
        work.add(() -> send(node, firstId, its));
      }
      for (Future<Void> done : threads.invokeAll(work)) {
        done.get();
      }
      OwnerSession last = two.open(OWNER);
      Set<Long> known = knownOf(last, deleted);
      for (GameQueue node : List.of(one, two, three, four)) {
        assertEquals(Set.of(), node.drain(LONG));
      }
      Set<Long> there = new TreeSet<>(acknowledged);
      there.removeAll(deleted);
      assertEquals(
          "%d %d %d"
              .formatted(there.size(), there.size(), there.stream().mapToLong(id -> id).sum()),
          game.queryText("SELECT CONCAT_WS(' ', COUNT(*), COUNT(DISTINCT id), SUM(id)) FROM pet"));
      await().atMost(LONG).until(() -> known.equals(there));
      assertEquals(List.of(), last.deadLetters());
      assertEquals(List.of(), List.copyOf(wrong));
      System.out.printf(
          "%d rows sent, %d opens, told of %d, %d deleted, %d at the end%n",
          acknowledged.size(), opens.get(), told.get(), deleted.size(), there.size());
      assertTrue(told.get() > 0, "nobody was told");
    } finally {
      threads.shutdownNow();
    }
  }
}
