package io.gameq.recovery.plan;

import io.gameq.rows.RowImage;
import org.jspecify.annotations.Nullable;

/**
 * The decoded values of a row in each place; null where it is not, or cannot be decoded.
 *
 * @param redis the newest that Redis holds
 * @param wal the planned change: what the row is after a replay
 */
public record RowContents(
    @Nullable RowImage mysql, @Nullable RowImage redis, @Nullable RowImage wal) {}
