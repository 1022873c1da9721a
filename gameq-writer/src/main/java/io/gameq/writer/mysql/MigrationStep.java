package io.gameq.writer.mysql;

import org.jspecify.annotations.Nullable;

/**
 * One statement of a migration; immutable.
 *
 * @param purpose what it is for, in a few words
 * @param sql the exact text, without a semicolon
 * @param otherwiseSql what to run when the server cannot do {@code sql} in this way; null: nothing
 */
public record MigrationStep(String purpose, String sql, @Nullable String otherwiseSql) {}
