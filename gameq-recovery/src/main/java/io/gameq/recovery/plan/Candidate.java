package io.gameq.recovery.plan;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;

/** The newest change of a row, as a WAL holds it; {@code wal} is the number of the WAL. */
record Candidate(
    OwnerId owner,
    SessionId session,
    String key,
    byte[] image,
    long version,
    int wal,
    long sequence) {}
