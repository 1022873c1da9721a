package io.gameq.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.LayoutException;
import io.gameq.OpenResult;
import io.gameq.OwnerSession;
import io.gameq.RedisUnavailableException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** When many owners are begun to be opened, and when no more are; with opens that the test ends. */
class OwnersOpeningTest {
  private static final int OWNERS = 1_000;

  /** What is under way, the oldest first. */
  private final Queue<CompletableFuture<OwnerSession>> underWay = new ArrayDeque<>();

  private final Queue<Runnable> callbacks = new ArrayDeque<>();
  private final List<Integer> told = new ArrayList<>();

  private CompletableFuture<List<OpenResult>> start() {
    List<String> owners = IntStream.range(0, OWNERS).mapToObj(id -> "player:" + id).toList();
    return new OwnerOpener.BulkOpener(
            owners,
            owner -> {
              CompletableFuture<OwnerSession> open = new CompletableFuture<>();
              underWay.add(open);
              return open;
            },
            at -> told.add(at.open() + at.failed()),
            callbacks::add)
        .start();
  }

  /** Ends those under way; returns how many there were. */
  private int end(RuntimeException failure) {
    List<CompletableFuture<OwnerSession>> now = List.copyOf(underWay);
    underWay.clear();
    now.forEach(open -> open.completeExceptionally(failure));
    while (!callbacks.isEmpty()) {
      callbacks.remove().run();
    }
    return now.size();
  }

  @Test
  void noMoreAreUnderWayThanLeaveRoomForOthers() {
    CompletableFuture<List<OpenResult>> all = start();
    while (!underWay.isEmpty()) {
      assertTrue(underWay.size() <= 32, () -> "under way: " + underWay.size());
      end(new LayoutException("of one row"));
    }
    assertEquals(OWNERS, all.join().size());
    assertEquals(IntStream.rangeClosed(1, OWNERS).boxed().toList(), told);
  }

  @Test
  void whenAServerIsAwayTheRestFailsAtOnceWithTheSame() {
    CompletableFuture<List<OpenResult>> all = start();
    RedisUnavailableException away = new RedisUnavailableException("Redis does not answer");
    int begun = end(away) + end(away);
    for (int left; (left = end(away)) > 0; ) {
      begun += left;
    }
    assertTrue(begun <= 3 * 32, "begun: " + begun);
    assertEquals(OWNERS, all.join().size());
    all.join().forEach(of -> assertEquals(away, of.failure()));
  }

  @Test
  void oneConnectionThatBreaksFailsThoseUnderWayAndNoOthers() {
    CompletableFuture<List<OpenResult>> all = start();
    assertEquals(32, end(new RedisUnavailableException("a connection broke")));
    while (!underWay.isEmpty()) {
      underWay.remove().complete(null);
      while (!callbacks.isEmpty()) {
        callbacks.remove().run();
      }
    }
    List<OpenResult> results = all.join();
    results.subList(0, 32).forEach(of -> assertInstanceOf(Exception.class, of.failure()));
    results.subList(32, OWNERS).forEach(of -> assertNull(of.failure()));
  }
}
