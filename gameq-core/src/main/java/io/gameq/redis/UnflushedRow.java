package io.gameq.redis;

/** A row as Redis holds it: its key ({@code table:key parts}) and its encoded image. */
public record UnflushedRow(String key, byte[] image) {}
