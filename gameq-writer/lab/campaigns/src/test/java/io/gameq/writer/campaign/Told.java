package io.gameq.writer.campaign;

/** A session was told of a row that somebody had sent to its owner; immutable. */
public record Told(Attempt.Part session, String row, long at) {}
