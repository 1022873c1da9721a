package io.gameq.commit;

import io.gameq.Limits;
import io.gameq.WhenRedisIsAway;
import io.gameq.WhenRedisIsFull;
import io.gameq.redis.SlotKeys;
import java.util.function.LongSupplier;

/**
 * How a sender sends. Immutable.
 *
 * @param slots all of the namespace
 * @param dueMillis when what is committed now is due, Unix ms by the clock of Redis
 * @param whenFull what becomes of commits while Redis has no room
 * @param whenAway what becomes of commits while Redis is away
 */
public record SenderConfig(
    SlotKeys[] slots,
    LongSupplier dueMillis,
    Limits limits,
    WhenRedisIsFull whenFull,
    WhenRedisIsAway whenAway) {}
