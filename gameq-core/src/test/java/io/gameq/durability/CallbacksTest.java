package io.gameq.durability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CallbacksTest {
  private static final long LONG_SECONDS = 20;

  private final List<Integer> ran = Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch all = new CountDownLatch(3_000);

  private void run(int number) {
    ran.add(number);
    all.countDown();
    if (number % 1_000 == 0) {
      throw number == 0
          ? new IllegalStateException("of the game")
          : new IllegalArgumentException("of the game");
    }
  }

  @Test
  void theyRunInOrderThoughSomeFail() throws Exception {
    try (Callbacks callbacks = Callbacks.on(null)) {
      IntStream.range(0, 3_000).forEach(number -> callbacks.execute(() -> run(number)));
      assertTrue(all.await(LONG_SECONDS, TimeUnit.SECONDS));
    }
    assertEquals(IntStream.range(0, 3_000).boxed().toList(), ran);
  }

  @Test
  void anExecutorThatTakesNoneLosesNone() throws Exception {
    try (Callbacks callbacks =
        Callbacks.on(
            task -> {
              throw new IllegalStateException("the plugin is disabled");
            })) {
      IntStream.range(0, 3_000).forEach(number -> callbacks.execute(() -> run(number)));
      assertTrue(all.await(LONG_SECONDS, TimeUnit.SECONDS));
    }
    assertEquals(IntStream.range(0, 3_000).boxed().toList(), ran);
  }

  @Test
  void whatAnExecutorDroppedRunsWhenTheNodeIsClosed() throws Exception {
    List<Runnable> dropped = new ArrayList<>();
    Callbacks callbacks = Callbacks.on(dropped::add);
    IntStream.range(0, 3_000).forEach(number -> callbacks.execute(() -> run(number)));
    callbacks.close();
    assertEquals(List.of(), ran);
    callbacks.runLeft(System.nanoTime() + TimeUnit.SECONDS.toNanos(LONG_SECONDS));
    assertEquals(IntStream.range(0, 3_000).boxed().toList(), ran);
    dropped.forEach(Runnable::run); // it was slow, after all: none runs twice
    assertEquals(3_000, ran.size());
  }

  @Test
  void anExecutorThatRunsThemWhereTheyComeFromDoesNotGetAThreadOfGameq() throws Exception {
    Set<Thread> threads = ConcurrentHashMap.newKeySet();
    try (Callbacks callbacks = Callbacks.on(Runnable::run)) {
      IntStream.range(0, 3_000)
          .forEach(
              number ->
                  callbacks.execute(
                      () -> {
                        threads.add(Thread.currentThread());
                        run(number);
                      }));
      assertTrue(all.await(LONG_SECONDS, TimeUnit.SECONDS));
    }
    assertEquals(IntStream.range(0, 3_000).boxed().toList(), ran);
    assertFalse(threads.contains(Thread.currentThread()));
  }

  @Test
  void whenManyWaitThereIsNoRoomButForACallbackItself() throws Exception {
    CountDownLatch blocked = new CountDownLatch(1);
    CountDownLatch started = new CountDownLatch(1);
    CompletableFuture<Boolean> inside = new CompletableFuture<>();
    try (Callbacks callbacks = Callbacks.on(null)) {
      assertTrue(callbacks.awaitRoom(System.nanoTime()));
      callbacks.execute(
          () -> {
            started.countDown();
            await(blocked);
            inside.complete(callbacks.awaitRoom(System.nanoTime()));
          });
      assertTrue(started.await(LONG_SECONDS, TimeUnit.SECONDS));
      for (int n = 0; n < Callbacks.MOST_WAITING; n++) {
        callbacks.execute(() -> {});
      }
      assertFalse(callbacks.awaitRoom(System.nanoTime()));
      blocked.countDown();
      assertTrue(inside.get(LONG_SECONDS, TimeUnit.SECONDS));
      assertTrue(callbacks.awaitRoom(System.nanoTime() + TimeUnit.SECONDS.toNanos(LONG_SECONDS)));
    }
  }

  @Test
  void aCallbackMayCloseTheNode() throws Exception {
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    Callbacks callbacks = Callbacks.on(null);
    callbacks.execute(
        () -> {
          callbacks.close();
          interrupted.complete(Thread.currentThread().isInterrupted());
        });
    assertFalse(interrupted.get(LONG_SECONDS / 5, TimeUnit.SECONDS));
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(LONG_SECONDS, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
