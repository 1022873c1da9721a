package io.gameq.writer.campaign;

/**
 * A session that was opened, and when the open had ended; immutable.
 *
 * @param process the node's process: its name and the count of its starts
 */
public record OpenAttempt(String owner, long epoch, long until, String process) {}
