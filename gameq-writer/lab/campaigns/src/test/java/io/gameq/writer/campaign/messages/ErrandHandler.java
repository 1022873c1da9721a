package io.gameq.writer.campaign.messages;

import io.gameq.GameQueue;
import io.gameq.topic.Delivery;
import io.gameq.topic.SubscribeOptions;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Handles what is published, as each message's kind says, and notes it. Thread-safe: the handlers
 * of all subscriptions of a node.
 */
public final class ErrandHandler {
  private static final int WORK_MILLIS = 20;

  private final MessageNotes notes;
  private final RowWork rows;
  private volatile boolean haltNext;

  /** Changes rows together with an acknowledgement. */
  public interface RowWork {
    /** Commits a row with the acknowledgement; {@code before} is told by which commit. */
    void ackWith(Delivery<Errand> delivery, Consumer<String> before);
  }

  /** A handler. */
  public ErrandHandler(MessageNotes notes, RowWork rows) {
    this.notes = notes;
    this.rows = rows;
  }

  /** Subscribes to all topics. */
  public void subscribe(GameQueue queue) {
    Errand.plain(queue).subscribe(this::handle, SubscribeOptions.DEFAULT.concurrency(4));
    Errand.serial(queue).subscribe(this::handle, SubscribeOptions.DEFAULT.concurrency(3));
  }

  /** The next handler notes that it began, and has the process die. */
  public void haltNext() {
    haltNext = true;
  }

  private void handle(Delivery<Errand> delivery) throws InterruptedException {
    String take = notes.taken(delivery.payload(), held(delivery));
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

  private static MessageNotes.Held held(Delivery<Errand> delivery) {
    long now = System.nanoTime();
    long remaining = delivery.remaining().toNanos();
    return new MessageNotes.Held(
        MessageNotes.lane(delivery.group(), delivery.key()),
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
