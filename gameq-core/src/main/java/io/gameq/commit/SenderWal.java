package io.gameq.commit;

import io.gameq.change.VersionClock;
import io.gameq.wal.WalWriter;

/** Where a sender writes commits first, and the clock that gives them their versions. */
public record SenderWal(WalWriter wal, VersionClock versions) {}
