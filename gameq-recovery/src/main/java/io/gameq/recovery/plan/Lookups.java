package io.gameq.recovery.plan;

import io.gameq.recovery.mysql.RecoveryDatabase;
import io.gameq.recovery.redis.LeftWalMessages;
import io.gameq.recovery.redis.MessageTotals;
import io.gameq.recovery.redis.RecoveryRedis;
import io.gameq.recovery.wal.WalFolder;
import io.gameq.recovery.wal.WalSet;
import io.gameq.rows.RowCodec;
import io.gameq.wal.WalReader;
import java.time.Clock;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the planner looks.
 *
 * @param redis null when it is gone for good: then it holds nothing
 */
public record Lookups(RecoveryDatabase database, @Nullable RecoveryRedis redis) {
  /** Decodes rows by the column lists that MySQL knows, and then by those of the WALs. */
  public RowCodec codec(WalSet wals) {
    return new RowCodec(
        (table, fingerprint) -> {
          String known = database.layouts().layout(table, fingerprint);
          return known != null ? known : wals.layout(table, fingerprint);
        },
        Clock.systemUTC());
  }

  /** What Redis lacks of the messages of WALs; nothing is known of them without Redis. */
  public MessageTotals messages(List<WalFolder> of) {
    return redis == null ? MessageTotals.NONE : new LeftWalMessages(redis, of).totals();
  }

  /** Puts them back, once the rows are; returns of how many commits. */
  public long putMessagesBack(List<WalFolder> of, boolean areRowsBack) {
    return redis == null
        ? 0
        : new LeftWalMessages(redis, of).putBack(database.truth(redis.slots()), areRowsBack);
  }

  /** The numbers of the WALs whose nodes gave a sign of life within 15 s. */
  public BitSet alive(WalSet wals) {
    BitSet alive = new BitSet();
    List<WalFolder> folders = wals.folders();
    for (int i = 0; i < folders.size() && redis != null; i++) {
      alive.set(i, redis.aliveNode(folders.get(i).process()) != null);
    }
    return alive;
  }

  /**
   * The numbers of the WALs that a process on this host writes now. It may yet mark a commit as
   * failed that was read without the mark, and tell the game so: nothing of them is ever replayed.
   */
  static BitSet beingWritten(WalSet wals) {
    BitSet written = new BitSet();
    List<WalFolder> folders = wals.folders();
    for (int i = 0; i < folders.size(); i++) {
      written.set(i, WalReader.isBeingWritten(folders.get(i).directory()));
    }
    return written;
  }
}
