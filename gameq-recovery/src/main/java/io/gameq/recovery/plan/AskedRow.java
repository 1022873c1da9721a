package io.gameq.recovery.plan;

import io.gameq.owner.SessionId;
import io.gameq.rows.RowKey;
import org.jspecify.annotations.Nullable;

/**
 * A row that Redis and MySQL are asked about.
 *
 * @param newestSession of its owner, in all WALs
 * @param key null when its table is not managed, or the key does not fit it
 * @param keyProblem why there is no key; empty when there is one
 */
record AskedRow(WalRow change, SessionId newestSession, @Nullable RowKey key, String keyProblem) {}
