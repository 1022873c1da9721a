package io.gameq.writer.campaign.messages;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.topic.Publish;
import io.gameq.topic.Topic;
import io.gameq.writer.campaign.messages.Errand.Kind;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Publishes by a seed: alone, several in a commit, merged by key, in groups, and some that it
 * deletes. One thread, so that what it publishes of a key or a group has an order. {@link #stage}
 * is for a thread that commits rows, and {@link #ended} for gameq's.
 */
public final class MessagePlayer implements Runnable {
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(12);
  private static final int MOST_OPEN = 64;
  private static final int GROUPS = 4;

  /** The last four are open now and then, or never. */
  private static final int OWNERS = 16;

  private static final int MERGED_KEYS = 3;

  private final Topic<Errand> plain;
  private final Topic<Errand> serial;
  private final Topic<Errand> owned;
  private final MessageNotes notes;
  private final String prefix;
  private final Random random;
  private final Semaphore room = new Semaphore(MOST_OPEN);
  private final AtomicInteger open = new AtomicInteger();
  private final Deque<ToDelete> toDelete = new ArrayDeque<>();
  private int counter;
  private volatile boolean stopped;

  private record ToDelete(String id, String key, long deleteAt) {}

  /** A player; no other has its prefix. */
  public MessagePlayer(GameQueue queue, MessageNotes notes, String prefix, long seed) {
    this.plain = Errand.plain(queue);
    this.serial = Errand.serial(queue);
    this.owned = Errand.owned(queue);
    this.notes = notes;
    this.prefix = prefix;
    this.random = new Random(seed);
  }

  /** Publishes no more. */
  public void stop() {
    stopped = true;
  }

  @Override
  public void run() {
    while (!stopped) {
      publish(random.nextInt(100));
      deleteSome();
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private void publish(int dice) {
    String id = nextId();
    if (dice < 15) {
      String owner = "player:" + (1 + random.nextInt(OWNERS));
      commit(owned, Publish.of(id, new Errand(id, Kind.ROWS)).owner(owner));
    } else if (dice < 35) {
      commit(plain, later(id, Kind.QUICK, 400));
    } else if (dice < 60) {
      String group = prefix + "." + random.nextInt(GROUPS);
      int kind = random.nextInt(40);
      Kind rarely = kind == 0 ? Kind.SLOW : Kind.FLAKY;
      commit(serial, later(id, kind < 3 ? rarely : Kind.QUICK, 300).group(group));
    } else if (dice < 70) {
      String key = prefix + ".merged" + random.nextInt(MERGED_KEYS);
      Errand errand = new Errand(id, random.nextInt(20) == 0 ? Kind.SLOW : Kind.QUICK);
      commit(plain, Publish.of(key, errand).window(Duration.ofMillis(200)));
    } else if (dice < 82) {
      commit(plain, later(id, Kind.ROWS, 300));
    } else if (dice < 86) {
      commit(
          id,
          plain,
          List.of(
              later(id, Kind.QUICK, 300),
              later(nextId(), Kind.ROWS, 300),
              later(nextId(), Kind.QUICK, 300)));
    } else if (dice < 92) {
      commit(plain, Publish.of(id, new Errand(id, Kind.QUICK)).after(Duration.ofMillis(500)));
      long wait = TimeUnit.MILLISECONDS.toNanos(random.nextInt(500));
      toDelete.add(new ToDelete(id, id, System.nanoTime() + wait));
    } else if (dice < 98) {
      commit(plain, later(id, Kind.FLAKY, 100));
    } else if (dice < 99) {
      commit(plain, later(id, Kind.LONG, 100)); // more of these would leave no handler free
    } else {
      commit(plain, later(id, Kind.CURSED, 100));
    }
  }

  private String nextId() {
    return prefix + "-" + ++counter;
  }

  private Publish<Errand> later(String id, Kind kind, int mostMillis) {
    return Publish.of(id, new Errand(id, kind))
        .after(Duration.ofMillis(random.nextInt(mostMillis)));
  }

  private void commit(Topic<Errand> topic, Publish<Errand> message) {
    commit(message.payload().id(), topic, List.of(message));
  }

  private void commit(String commit, Topic<Errand> topic, List<Publish<Errand>> messages) {
    room.acquireUninterruptibly();
    messages.forEach(message -> notes.publish(commit, topic.name(), message, MessageNotes.ALONE));
    open.incrementAndGet();
    try {
      topic
          .publish(messages)
          .queued()
          .whenComplete((ignored, error) -> end(commit, Certainty.cause(error)));
    } catch (GameQueueException e) {
      end(commit, e);
    }
  }

  private void end(String commit, @Nullable Throwable error) {
    ended(commit, error);
    open.decrementAndGet();
    room.release();
  }

  private void deleteSome() {
    while (!toDelete.isEmpty() && toDelete.peek().deleteAt < System.nanoTime()) {
      ToDelete of = toDelete.remove();
      notes.about(MessageNotes.DELETE, of.id);
      try {
        plain.delete(of.key).queued().thenRun(() -> notes.about(MessageNotes.DELETED, of.id));
      } catch (GameQueueException e) {
        // it is handled
      }
    }
  }

  /** Stages a message with rows of a commit, of which the id becomes the message's. */
  public void stage(OwnerSession session, String commit, Random dice) {
    Kind kind = dice.nextBoolean() ? Kind.ROWS : Kind.QUICK;
    Publish<Errand> message =
        Publish.of(commit, new Errand(commit, kind)).after(Duration.ofMillis(dice.nextInt(300)));
    notes.publish(commit, plain.name(), message, MessageNotes.WITH_ROW);
    session.publish(plain, message);
  }

  /** What came of a commit. */
  public void ended(String commit, @Nullable Throwable error) {
    if (error == null) {
      notes.about(MessageNotes.QUEUED, commit);
    } else {
      notes.about(Certainty.isCertain(error) ? MessageNotes.REFUSED : MessageNotes.UNSURE, commit);
    }
  }

  /** Waits until every commit has its outcome; returns how many have none. */
  public int awaitAnswers(long deadlineNanos) throws InterruptedException {
    while (open.get() > 0 && System.nanoTime() < deadlineNanos) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
    return open.get();
  }
}
