package io.gameq.mysql;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls of many threads that are made together. */
class GroupedCallsTest {
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final BlockingQueue<List<Integer>> asked = new LinkedBlockingQueue<>();
  private final CountDownLatch goesOn = new CountDownLatch(1);
  private final GroupedCalls<Integer, String> calls =
      new GroupedCalls<>(3, 1, this::one, this::many);

  /** Waits at question 0; refuses negative numbers. */
  private String one(Integer question) {
    asked.add(List.of(question));
    if (question == 0) {
      try {
        goesOn.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    if (question < 0) {
      throw new IllegalArgumentException("refused " + question);
    }
    return "a" + question;
  }

  /** Refuses groups that have a negative number. */
  private List<String> many(List<Integer> questions) {
    asked.add(questions);
    if (questions.stream().anyMatch(q -> q < 0)) {
      throw new IllegalArgumentException("refused them all");
    }
    return questions.stream().map(q -> "a" + q).toList();
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  private CompletableFuture<String> call(int question) {
    return CompletableFuture.supplyAsync(() -> calls.call(question), threads);
  }

  /** Calls that come one after another while the first is under way. */
  private List<CompletableFuture<String>> behindTheFirst(int... questions) {
    List<CompletableFuture<String>> all = new ArrayList<>(List.of(call(0)));
    await().atMost(LONG).until(() -> !asked.isEmpty());
    for (int question : questions) {
      int before = calls.waiting();
      all.add(call(question));
      await().atMost(LONG).until(() -> calls.waiting() == before + 1);
    }
    goesOn.countDown();
    return all;
  }

  @Test
  void oneThatComesAloneGoesAlone() {
    assertEquals("a7", calls.call(7));
    assertEquals("a8", calls.call(8));
    assertEquals(List.of(List.of(7), List.of(8)), List.copyOf(asked));
  }

  @Test
  void thoseThatComeMeanwhileGoTogether() {
    List<CompletableFuture<String>> all = behindTheFirst(1, 2, 3, 4, 5);
    assertEquals(
        IntStream.range(0, 6).mapToObj(i -> "a" + i).toList(),
        all.stream().map(CompletableFuture::join).toList());
    assertEquals(List.of(List.of(0), List.of(1, 2, 3), List.of(4, 5)), List.copyOf(asked));
    assertEquals("a9", calls.call(9), "nothing is left under way");
  }

  @Test
  void whereAGroupFailsEachIsAskedAlone() {
    List<CompletableFuture<String>> all = behindTheFirst(1, -2, 3);
    assertEquals("a1", all.get(1).join());
    assertEquals("a3", all.get(3).join());
    CompletionException refused = assertThrows(CompletionException.class, () -> all.get(2).join());
    assertTrue(String.valueOf(refused.getMessage()).contains("refused -2"), refused::toString);
    assertEquals("a9", calls.call(9), "nothing is left under way");
  }
}
