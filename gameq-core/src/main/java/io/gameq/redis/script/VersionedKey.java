package io.gameq.redis.script;

/** A row, by its key {@code table:parts}, in a version. Immutable. */
public record VersionedKey(String key, long version) {}
