package io.gameq.commit;

import io.gameq.healing.DurableTruth;
import io.gameq.healing.Healing;
import io.gameq.healing.WalReplay;
import io.gameq.redis.RedisConnection;
import io.gameq.wal.WalWriter;
import java.util.List;
import java.util.Set;

/** What a sender does on a new connection before it sends anything new. Used by its thread. */
final class SenderHealing {
  private final SenderSessions sessions;
  private final SentCommits sent;
  private final WalReplay replay;
  private final Healing healing;
  private final Resending resending;
  private final SenderEvents events;

  SenderHealing(
      SenderConfig config,
      WalWriter wal,
      DurableTruth truth,
      SenderSessions sessions,
      SentCommits sent,
      Settlement settlement,
      SenderEvents events) {
    this.sessions = sessions;
    this.sent = sent;
    this.events = events;
    replay = new WalReplay(wal, config.dueMillis(), truth.halves());
    healing = new Healing(truth.sessions(), config.slots(), replay);
    resending = new Resending(healing, settlement, commit -> sessions.group(List.of(commit)));
  }

  void distrustMarks() {
    replay.distrustMarks(sessions.all());
  }

  /** Puts back what Redis lost. */
  void run(RedisConnection redis) {
    Set<Long> givenUp = healing.run(redis, sessions.all());
    if (!givenUp.isEmpty()) {
      events.notReplayed(givenUp);
    }
  }

  /** Sends commits again that have no answer. */
  void sendAgain(RedisConnection redis) {
    resending.sendAll(redis, sent.unanswered());
  }
}
