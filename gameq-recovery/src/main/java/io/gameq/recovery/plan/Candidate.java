package io.gameq.recovery.plan;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow;

/** The newest change of a row, as a WAL holds it; {@code wal} is the number of the WAL. */
record Candidate(
    OwnerId owner, SessionId session, EncodedRow encoded, long version, int wal, long sequence) {
  String key() {
    return encoded.key();
  }

  byte[] image() {
    return encoded.image();
  }
}
