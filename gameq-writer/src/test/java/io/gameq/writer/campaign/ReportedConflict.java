package io.gameq.writer.campaign;

/**
 * A row of a session that nobody holds any more and that was reported by name; immutable.
 *
 * @param row {@code table:primary key}
 * @param session the session that wrote it
 */
public record ReportedConflict(String row, Attempt.Part session) {}
