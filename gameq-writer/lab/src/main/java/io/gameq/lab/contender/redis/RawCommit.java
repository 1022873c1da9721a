package io.gameq.lab.contender.redis;

import java.util.List;

/**
 * What Redis is sent of one commit, as gameq sends it; immutable.
 *
 * @param own the key that is read
 * @param dirty the hash that gets the rows
 * @param rows field, value, field, value ...
 * @param due the sorted set that gets {@code member}
 */
record RawCommit(String own, String dirty, List<byte[]> rows, String due, String member) {}
