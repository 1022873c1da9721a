package io.gameq.redis.script;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.redis.Slots;
import org.junit.jupiter.api.Test;

class DueSessionsTest {
  @Test
  void thousandsOfSlotsAreLookedAtInFewCalls() {
    try (SlotFixture redis = new SlotFixture()) {
      Slots slots = new Slots(redis.namespace, 1_200);
      assertEquals(
          3,
          redis.scriptCalls(
              () ->
                  assertEquals(1_200, DueSessions.firsts(redis.redis, slots, true).due().length)));
    }
  }
}
