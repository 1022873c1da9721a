package io.gameq.recovery.redis;

import io.gameq.healing.DurableTruth;
import io.gameq.healing.LeftMessageReplay;
import io.gameq.healing.LeftMessages;
import io.gameq.recovery.wal.WalFolder;
import java.util.List;

/** The messages of WALs whose nodes are gone, in Redis. One thread. */
public final class LeftWalMessages {
  private final RecoveryRedis redis;
  private final List<WalFolder> folders;

  /** Of WALs of the same namespace. */
  public LeftWalMessages(RecoveryRedis redis, List<WalFolder> folders) {
    this.redis = redis;
    this.folders = folders.stream().filter(folder -> folder.messages() > 0).toList();
  }

  /** What Redis lacks of them; throws GameQueueException when it does not answer. */
  public MessageTotals totals() {
    MessageTotals totals = MessageTotals.NONE;
    for (WalFolder folder : folders) {
      LeftMessages messages = read(folder);
      totals = totals.plus(messages.changes(), messages.lackingChanges(), messages.tooOld());
    }
    return totals;
  }

  /**
   * Puts back what Redis lacks, once the rows are; returns of how many commits.
   *
   * @param areRowsBack whether nothing is left of the rows of these WALs
   * @throws io.gameq.GameQueueException when a server does not answer, or Redis has no room: what
   *     was put back stays
   */
  public long putBack(DurableTruth truth, boolean areRowsBack) {
    long commits = 0;
    for (WalFolder folder : folders) {
      LeftMessages messages = read(folder);
      if (messages.lackingChanges() > 0) {
        commits +=
            LeftMessageReplay.run(
                redis.connection(), redis.slots(), truth, wal(folder), messages, areRowsBack);
      }
    }
    return commits;
  }

  private LeftMessages read(WalFolder folder) {
    return LeftMessages.read(redis.connection(), redis.slots(), wal(folder), folder::isFailed);
  }

  private static LeftMessages.Wal wal(WalFolder folder) {
    return new LeftMessages.Wal(folder.directory(), folder.id());
  }
}
