package io.gameq.commit;

import io.gameq.GameQueueConfig;
import io.gameq.change.VersionClock;
import io.gameq.wal.WalWriter;

/**
 * Where a sender writes commits first, the clock that gives them their versions, and which of them
 * change messages.
 */
public record SenderWal(WalWriter wal, VersionClock versions, RecentMessages recent) {
  /** One that keeps messages as long as is usual. */
  public SenderWal(WalWriter wal, VersionClock versions) {
    this(wal, versions, new RecentMessages(GameQueueConfig.DEFAULT_MESSAGE_KEEP));
  }
}
