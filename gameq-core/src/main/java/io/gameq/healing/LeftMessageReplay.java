package io.gameq.healing;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.JournalMarks;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalReport;

/**
 * Puts the messages back that a node which is gone had published and Redis has lost, from the WAL
 * that it left, apart from the rows; stopped anywhere or run twice, it does no harm. Stateless.
 */
public final class LeftMessageReplay {
  private LeftMessageReplay() {}

  /**
   * Replays one WAL, once its rows are where they belong.
   *
   * @param redis a connection that no other thread uses meanwhile
   * @param messages of that WAL, all of which was {@linkplain LeftMessages#take taken}
   * @param areRowsBack whether nothing is left of the rows: then the journal marks are moved on
   * @return of how many records messages were put back
   * @throws io.gameq.GameQueueException when a server goes away, or Redis has no room: what was
   *     replayed stays, and it can be run again
   */
  public static int run(
      RedisConnection redis,
      SlotKeys[] slots,
      DurableTruth truth,
      LeftMessages.Wal wal,
      LeftMessages messages,
      boolean areRowsBack) {
    LeftRecords left = new LeftRecords(slots, JournalMarks.none(slots.length), false);
    WalReport report = WalReader.read(wal.directory(), left::take);
    HeldSessions sessions = new HeldSessions(left.sessions());
    SessionOwnership.read(
        truth.sessions(), sessions.owning().stream().map(HeldSession::ref).toList());
    LeftWalPorts ports =
        new LeftWalPorts(
            redis,
            slots,
            truth,
            new WalFiles(WalPlaces.left(wal.directory(), left.carried()), wal.id()),
            new LeftWalPorts.Left(
                sessions, messages, left.newest(), report.isWhole() && areRowsBack));
    HealingStep.runAll(new HealingStep.ReplayMessages(NotReplayed.NONE), ports);
    return ports.replayed();
  }
}
