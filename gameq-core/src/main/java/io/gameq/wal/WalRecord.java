package io.gameq.wal;

import io.gameq.message.MessageChange;
import io.gameq.rows.EncodedRow;
import java.util.List;

/** What a WAL holds, as read back. Row images refer to layouts by fingerprint. */
public sealed interface WalRecord {
  /** What of it holds rows: the parts of a commit, or what a session adopted. */
  default List<Part> parts() {
    return List.of();
  }

  /** What it changes of messages, in order. */
  default List<MessageChange> messages() {
    return List.of();
  }

  /**
   * The first record of every WAL.
   *
   * @param database for which it was written, by gameq_setting; empty in WALs of earlier builds
   */
  record Header(
      int format,
      String walId,
      String namespace,
      int slots,
      String node,
      long startMillis,
      String database)
      implements WalRecord {
    /** Whether what it holds may belong to this database. */
    public boolean isOf(String namespace, int slots, String database) {
      return this.namespace.equals(namespace)
          && this.slots == slots
          && (this.database.isEmpty() || this.database.equals(database));
    }
  }

  /**
   * A commit, as it was sent to Redis. Its sequence is what journal and message marks name.
   *
   * @param version of the commit; 0 when it has no messages: then its rows tell
   */
  record Committed(List<Part> parts, long version, List<MessageChange> messages)
      implements WalRecord {
    /** A commit of rows alone. */
    public Committed(List<Part> parts) {
      this(parts, 0, List.of());
    }
  }

  /** The game was told that this commit failed. */
  record Failed(long sequence) implements WalRecord {}

  /** Rows that a session took over from the one before it. */
  record Adopted(Part part) implements WalRecord {
    @Override
    public List<Part> parts() {
      return List.of(part);
    }
  }

  /** A column list that row images name by fingerprint. */
  record Layout(String table, long fingerprint, String columns) implements WalRecord {}

  /** One session's rows. */
  record Part(String owner, String session, List<EncodedRow> rows) {}

  /**
   * A record and its place in the WAL.
   *
   * @param sequence names it: journal marks and marks of failed commits go on meaning this one
   * @param place the sequence where it stands now: a higher one, when it was carried forward. Until
   *     the old file is deleted it stands in both
   */
  public record Entry(long sequence, long place, WalRecord record) {
    public boolean isCarried() {
      return place != sequence;
    }
  }
}
