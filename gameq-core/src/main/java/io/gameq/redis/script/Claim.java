package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow;
import java.util.List;

/**
 * An owner's dirty rows, taken under a lease. Immutable.
 *
 * @param token proves in ack and nack that the lease did not run out
 * @param attempts how often these rows were claimed, this time included, not counting outages
 * @param lapses how often their lease ran out since they were last flushed
 * @param refusedForMillis how long ago MySQL first refused one of them since they were last
 *     flushed; 0 if it never did
 */
public record Claim(
    OwnerId owner,
    SessionId session,
    String token,
    int attempts,
    int lapses,
    long refusedForMillis,
    List<EncodedRow> rows) {}
