package io.gameq.writer.campaign;

/** What MySQL holds of a row at the end; immutable. */
public record Held(String owner, String value, long version) {}
