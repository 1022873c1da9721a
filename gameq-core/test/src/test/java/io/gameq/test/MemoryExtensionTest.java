package io.gameq.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.test.GameContract.Order;
import io.gameq.test.GameContract.Player;
import io.gameq.topic.Publish;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** What the annotation gives to tests, in memory; {@link ServersExtensionTest}: on servers. */
@ContractTables
class MemoryExtensionTest {
  private final GameQueue queue;

  MemoryExtensionTest(GameQueue queue) {
    this.queue = queue;
  }

  @RepeatedTest(3)
  void everyTestBeginsWithEmptyTablesAndWithoutTopics(RepetitionInfo times) {
    assertEquals(List.of(), queue.read("player:1", Player.class));
    assertEquals(Optional.empty(), queue.definedTopic("orders"));
    OwnerSession left = queue.open("player:1");
    left.put(new Player(1, "Ann", 1));
    left.commit();
    int attempts = times.getCurrentRepetition() + 1; // others than those of the test before
    Topic<Order> orders =
        queue.topic(
            "orders", Order.class, TopicOptions.DEFAULT.lease(Duration.ofSeconds(attempts)));
    assertEquals(0, orders.counts().pending());
    orders.publish(Publish.of("1", new Order("left")).after(Duration.ofHours(1)));
  }

  @Test
  void theSecondNodeIsAnotherOneOfTheSameGame(GameQueue same, GameQueue other) {
    assertSame(queue, same);
    assertNotSame(queue, other);
    try (OwnerSession session = queue.open("player:1")) {
      session.put(new Player(1, "Ann", 1));
      session.commit().awaitQueued(Duration.ofSeconds(20));
    }
    assertEquals(List.of(new Player(1, "Ann", 1)), other.read("player:1", Player.class));
  }

  @Test
  void aTestThatSetsTheClockRunsInMemoryAlone(TestClock clock) {
    assertFalse(this instanceof ServersExtensionTest);
    clock.advance(Duration.ofDays(1));
  }

  /** As a game's nested tests would be. */
  @Nested
  class WithAPlayer {
    @BeforeEach
    void login(GameQueue same) {
      assertSame(queue, same);
      try (OwnerSession session = queue.open("player:1")) {
        session.put(new Player(1, "Ann", 1));
        session.commit();
      }
    }

    @Test
    void nestedTestsHaveTheGameOfTheOuterOnes() {
      assertEquals(1, queue.read("player:1", Player.class).size());
    }
  }
}
