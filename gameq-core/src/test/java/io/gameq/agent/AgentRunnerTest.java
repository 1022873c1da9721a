package io.gameq.agent;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.agent.AgentRunner.Agent;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AgentRunnerTest {
  private final Semaphore steps = new Semaphore(0);

  /** An agent that does nothing until it is woken, and says so. */
  private class Sleeper implements Agent {
    @Override
    public String name() {
      return "sleep";
    }

    @Override
    public int doWork() {
      steps.release();
      return 0;
    }

    @Override
    public long idleNanos() {
      return Long.MAX_VALUE;
    }
  }

  /** One that always fails, and would never rest. */
  private static class Failing implements Agent {
    @Override
    public String name() {
      return "do what always fails";
    }

    @Override
    public int doWork() {
      throw new AssertionError("as a test wants it");
    }

    @Override
    public long idleNanos() {
      return 0;
    }
  }

  @Test
  void whatOneAgentThrowsEndsNeitherTheOthersNorItself() throws InterruptedException {
    try (AgentRunner runner = new AgentRunner("failing")) {
      runner.start(new Failing(), new Sleeper());
      for (int round = 1; round <= 3; round++) {
        steps.acquire();
        runner.wake();
      }
    }
  }

  @Test
  void anAgentThatFailsRestsWhateverItSays() throws InterruptedException {
    long begun = System.nanoTime();
    try (AgentRunner runner = new AgentRunner("failing")) {
      runner.start(new Failing(), new Sleeper());
      steps.acquire(3);
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
    assertTrue(millis >= 200, "two rests of 100 ms, not " + millis);
  }

  @Test
  void aWakeDuringAStepIsNotLost() throws InterruptedException {
    CountDownLatch inStep = new CountDownLatch(1);
    CountDownLatch woken = new CountDownLatch(1);
    Agent waits =
        new Sleeper() {
          @Override
          public int doWork() {
            inStep.countDown();
            try {
              woken.await();
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
            return super.doWork();
          }
        };
    try (AgentRunner runner = new AgentRunner("woken")) {
      runner.start(waits);
      inStep.await();
      runner.wake();
      woken.countDown();
      steps.acquire(2);
    }
  }

  @Test
  void agentsAreClosedOnTheirOwnThreadThoughOneFails() throws InterruptedException {
    CompletableFuture<String> closedBy = new CompletableFuture<>();
    Agent failsToClose =
        new Sleeper() {
          @Override
          public void close() {
            throw new AssertionError("as a test wants it");
          }
        };
    Agent last =
        new Sleeper() {
          @Override
          public void close() {
            closedBy.complete(Thread.currentThread().getName());
          }
        };
    AgentRunner runner = new AgentRunner("closed");
    runner.start(failsToClose, last);
    steps.acquire(2);
    runner.close();
    assertEquals("closed", closedBy.getNow("not yet"));
  }

  @Test
  void closeNowInterruptsTheStepAtHand() throws InterruptedException {
    CountDownLatch closed = new CountDownLatch(1);
    Agent hangs =
        new Sleeper() {
          @Override
          public int doWork() {
            steps.release();
            try {
              new CountDownLatch(1).await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
            return 0;
          }

          @Override
          public void close() {
            closed.countDown();
          }
        };
    AgentRunner runner = new AgentRunner("hangs");
    runner.start(hangs);
    steps.acquire();
    runner.closeNow();
    assertTrue(closed.await(LONG.toSeconds(), TimeUnit.SECONDS));
  }
}
