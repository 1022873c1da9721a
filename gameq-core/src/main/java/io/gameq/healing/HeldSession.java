package io.gameq.healing;

import io.gameq.change.Unsettled;
import io.gameq.owner.SessionRef;
import io.gameq.redis.SessionKeys;

/**
 * A session that a node holds: its keys in Redis, and what of it may have to be sent there again.
 */
public record HeldSession(SessionRef ref, SessionKeys keys, Unsettled unsettled) {}
