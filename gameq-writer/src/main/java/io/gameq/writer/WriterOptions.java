package io.gameq.writer;

import io.gameq.writer.redis.ClaimScript;

/**
 * How a writer works; immutable.
 *
 * @param name names this writer in Redis and logs: no spaces
 * @param workers threads, each with a connection to Redis and one to MySQL
 * @param bounds what one claim takes
 */
public record WriterOptions(
    String namespace, int slots, String name, int workers, ClaimScript.Bounds bounds) {}
