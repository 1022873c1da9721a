package io.gameq.writer.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.redis.Slots;
import io.gameq.redis.script.SlotFixture;
import org.junit.jupiter.api.Test;

class DueSlotsTest {
  @Test
  void thousandsOfSlotsAreLookedAtInFewCalls() {
    try (SlotFixture redis = new SlotFixture()) {
      Slots slots = new Slots(redis.namespace, 1_200);
      assertEquals(
          3,
          redis.scriptCalls(
              () -> assertEquals(1_200, DueSlots.firsts(redis.redis, slots, true).due().length)));
    }
  }
}
