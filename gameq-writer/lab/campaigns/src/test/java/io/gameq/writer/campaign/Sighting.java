package io.gameq.writer.campaign;

import java.util.Map;

/**
 * What a read, or an open, saw of one table of one owner; immutable.
 *
 * @param by who looked, for messages
 * @param from when the look began, and {@code until} when it had ended
 * @param rows row to value
 */
public record Sighting(
    String by, long from, long until, String owner, String table, Map<String, String> rows) {}
