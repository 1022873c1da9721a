package io.gameq.writer.campaign;

/** That a session was opened, and when the open had returned; immutable. */
public record Opening(String owner, long epoch, long until) {}
