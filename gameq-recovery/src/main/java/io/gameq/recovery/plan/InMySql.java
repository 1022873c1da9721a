package io.gameq.recovery.plan;

import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.recovery.mysql.DurableOwners.Durable;
import io.gameq.rows.RowImage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What MySQL holds of a row and of its owner. All but the version is asked for, and else empty,
 * only where the version is missing or older than the WAL's; the image also for a comparison.
 *
 * @param version of the row or its tombstone; null for none
 * @param deadLetter the version that MySQL refused; null for none
 * @param durable the owner's sessions; null for none
 * @param image null for none
 */
record InMySql(
    @Nullable Long version,
    @Nullable Long deadLetter,
    List<Discard> discards,
    @Nullable Durable durable,
    @Nullable RowImage image) {}
