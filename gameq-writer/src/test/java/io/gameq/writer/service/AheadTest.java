package io.gameq.writer.service;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.gameq.GameQueueException;
import io.gameq.writer.service.RunCommand.BackgroundOpener;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AheadTest {
  private final AtomicInteger opened = new AtomicInteger();
  private final AtomicBoolean isClosed = new AtomicBoolean();

  private AutoCloseable open() {
    opened.incrementAndGet();
    return () -> isClosed.set(true);
  }

  @Test
  void opensBeforeItIsAskedAndOnceForEachTimeItIsAsked() {
    BackgroundOpener<AutoCloseable> ahead = new BackgroundOpener<>("test-ahead", this::open);
    await().atMost(LONG).until(() -> opened.get() == 1);
    AutoCloseable first = ahead.get();
    assertEquals(1, opened.get());
    AutoCloseable unused = ahead.get();
    assertEquals(2, opened.get());
    ahead.close();
    assertFalse(isClosed.get(), "what was handed out is its taker's to close: " + first);
  }

  /** So that a server that is away is asked again. */
  @Test
  void throwsWhatOpeningThrewAndTriesAgainWhenAskedAgain() {
    GameQueueException away = new GameQueueException("away");
    try (BackgroundOpener<AutoCloseable> ahead =
        new BackgroundOpener<>(
            "test-ahead",
            () -> {
              if (opened.incrementAndGet() == 1) {
                throw away;
              }
              return () -> isClosed.set(true);
            })) {
      assertSame(away, assertThrows(GameQueueException.class, ahead::get));
      AutoCloseable unused = ahead.get();
      assertEquals(2, opened.get());
    }
  }

  @Test
  void whatNobodyAskedForIsClosedAlsoWhenItOpensLate() {
    CountDownLatch slow = new CountDownLatch(1);
    BackgroundOpener<AutoCloseable> ahead =
        new BackgroundOpener<>(
            "test-ahead",
            () -> {
              try {
                slow.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
              return open();
            });
    ahead.close();
    assertFalse(isClosed.get());
    slow.countDown();
    await().atMost(LONG).until(isClosed::get);
  }
}
