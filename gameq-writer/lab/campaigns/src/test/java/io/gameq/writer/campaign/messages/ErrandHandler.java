package io.gameq.writer.campaign.messages;

import io.gameq.ChangeSet;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.topic.Delivery;
import io.gameq.topic.SubscribeOptions;
import io.gameq.topic.Topic;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Handles what is published, as each message's kind says, and notes it. Thread-safe: the handlers
 * of all subscriptions of a node.
 */
public final class ErrandHandler {
  private static final int WORK_MILLIS = 20;

  private final GameQueue queue;

  /** Made once: a session would go on without its errands while MySQL is away. */
  private final Topic<Errand> owned;

  private final MessageNotes notes;
  private final RowWork rows;
  private volatile boolean haltNext;
  private volatile boolean haltNextOwned;

  /** Changes rows together with an acknowledgement. */
  public interface RowWork {
    /** Commits a row with the acknowledgement; {@code before} is told by which commit. */
    void ackWith(Delivery<Errand> delivery, Consumer<String> before);

    /** Stages a row for an owner's handler; returns the id of its commit, which it has noted. */
    String put(OwnerSession owner, ChangeSet changes);
  }

  /** A handler of a node. */
  public ErrandHandler(GameQueue queue, MessageNotes notes, RowWork rows) {
    this.queue = queue;
    this.owned = Errand.owned(queue);
    this.notes = notes;
    this.rows = rows;
  }

  /** Subscribes to all topics. */
  public void subscribe() {
    Errand.plain(queue).subscribe(this::handle, SubscribeOptions.DEFAULT.concurrency(4));
    Errand.serial(queue).subscribe(this::handle, SubscribeOptions.DEFAULT.concurrency(3));
  }

  /** Opens owners that nobody has, for their errands. */
  public void subscribeOwners() {
    owned.subscribeOwners(this::handleOwned, SubscribeOptions.DEFAULT.concurrency(3));
  }

  /**
   * Has a session handle the errands of its owner.
   *
   * @param executor acts for the session
   * @param ended runs there once the session takes nothing more: it is lost, or a commit was
   *     refused
   */
  public void handle(OwnerSession session, Executor executor, Runnable ended) {
    session.handle(owned, executor, this::handleOwned);
    var unused = session.lost().thenRunAsync(ended, executor);
  }

  /** The next handler notes that it began, and has the process die. */
  public void haltNext() {
    haltNext = true;
  }

  /** The same of an owner's errand, with its rows staged. */
  public void haltNextOwned() {
    haltNextOwned = true;
  }

  private void handleOwned(OwnerSession owner, Delivery<Errand> delivery, ChangeSet changes)
      throws InterruptedException {
    String take = notes.taken(delivery.payload(), held(owner.owner(), delivery));
    sleep(ThreadLocalRandom.current().nextInt(WORK_MILLIS));
    notes.rows(take, rows.put(owner, changes));
    if (haltNextOwned) {
      Runtime.getRuntime().halt(137);
    }
    notes.about(MessageNotes.DONE, take);
  }

  private void handle(Delivery<Errand> delivery) throws InterruptedException {
    String take = notes.taken(delivery.payload(), held(delivery.group(), delivery));
    if (haltNext) {
      Runtime.getRuntime().halt(137);
    }
    try {
      work(delivery, take);
    } catch (RuntimeException | InterruptedException e) {
      notes.about(MessageNotes.THREW, take);
      throw e;
    }
    notes.about(MessageNotes.DONE, take);
  }

  private static MessageNotes.Held held(@Nullable String group, Delivery<Errand> delivery) {
    long now = System.nanoTime();
    long remaining = delivery.remaining().toNanos();
    return new MessageNotes.Held(
        MessageNotes.lane(group, delivery.key()),
        delivery.fence(),
        delivery.attempt(),
        delivery.due().toEpochMilli(),
        remaining == 0 ? 0 : now + remaining - Errand.LEASE.toNanos(),
        remaining == 0 ? 0 : now + remaining);
  }

  private void work(Delivery<Errand> delivery, String take) throws InterruptedException {
    switch (delivery.payload().kind()) {
      case QUICK -> sleep(ThreadLocalRandom.current().nextInt(WORK_MILLIS));
      case ROWS -> {
        sleep(ThreadLocalRandom.current().nextInt(WORK_MILLIS));
        rows.ackWith(delivery, commit -> notes.rows(take, commit));
      }
      case FLAKY -> {
        if (delivery.attempt() == 1) {
          throw new IllegalStateException("the first attempt fails");
        }
      }
      case CURSED -> throw new IllegalStateException("always fails");
      case LONG -> {
        for (int i = 0; i < 4; i++) {
          sleep(Errand.LEASE.toMillis() * 2 / 5);
          extend(delivery, take);
        }
      }
      case SLOW -> // the first attempt returns while the second is at work
          sleep(delivery.attempt() == 1 ? Errand.LEASE.toMillis() + 300 : 600);
    }
  }

  private void extend(Delivery<Errand> delivery, String take) {
    long began = System.nanoTime();
    delivery.extend(Duration.ofMillis(Errand.LEASE.toMillis()));
    notes.extended(take, began + Errand.LEASE.toNanos());
  }

  private static void sleep(long millis) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(millis);
  }
}
