package io.gameq.recovery.replay;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.List;

/** The lost rows of one owner, each with the session that wrote it. Not thread-safe. */
final class OwnerRows {
  private final OwnerId owner;
  private final List<EncodedRow> rows = new ArrayList<>();
  private final List<SessionId> writtenUnder = new ArrayList<>();

  OwnerRows(OwnerId owner) {
    this.owner = owner;
  }

  void add(SessionId session, EncodedRow row) {
    rows.add(row);
    writtenUnder.add(session);
  }

  OwnerId owner() {
    return owner;
  }

  List<EncodedRow> rows() {
    return rows;
  }

  /** The session that wrote a row. */
  SessionId writtenUnder(int row) {
    return writtenUnder.get(row);
  }
}
