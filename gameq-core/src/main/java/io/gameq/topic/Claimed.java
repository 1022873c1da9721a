package io.gameq.topic;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message that was taken by {@link Claims#take}, as it was then. Immutable.
 *
 * @param claim what acknowledges it, on any node: text for programs, up to 2,000 characters of
 *     {@code A-Z a-z 0-9 _ -}
 * @param group null when it has none
 * @param attempt which one this is, from 1; leases that ran out count
 * @param due when it fell due, by the clock of Redis; of an attempt after the first, when that did
 * @param since of a recurring message the time of this occurrence, else when it was first published
 * @param fence higher each time a message of this key, or group, is taken; see {@link
 *     Delivery#fence}
 * @param lease what is left of it, at least
 */
public record Claimed<T>(
    String claim,
    String key,
    @Nullable String group,
    T payload,
    int attempt,
    Instant due,
    Instant since,
    long fence,
    Duration lease) {}
