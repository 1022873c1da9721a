package io.gameq.writer.turn;

import io.gameq.GameQueueException;
import io.gameq.log.RepeatedWarnings;
import io.gameq.message.MessageChange;
import io.gameq.mysql.ErrorKind.RowChange;
import io.gameq.mysql.flush.FlushTransaction.Fenced;
import io.gameq.mysql.flush.FlushTransaction.Outcome;
import io.gameq.mysql.flush.FlushTransaction.Written;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.owner.DurableSessions.SessionId;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.terminal.Shown;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says what turns meet, now and then rather than each time, and counts what they did. Thread-safe.
 */
public final class TurnReports {
  private static final Logger LOG = LoggerFactory.getLogger(TurnReports.class);

  private final RepeatedWarnings warnings;
  private final WriterStats stats;

  public TurnReports(RepeatedWarnings warnings, WriterStats stats) {
    this.warnings = warnings;
    this.stats = stats;
  }

  // --- of a claim

  void reaped(List<ClaimScript.Reaped> reaped) {
    stats.reaped(reaped.size());
    for (ClaimScript.Reaped of : reaped) {
      warnings.about(
          "took back",
          LOG::warn,
          () ->
              "took back owner %s from writer %s, whose lease ran out"
                  .formatted(of.owner(), of.writer()));
    }
  }

  /** The other slots go on. */
  public void cannotClaim(int slot, GameQueueException e) {
    warnings.about(
        "slot " + slot,
        LOG::warn,
        () -> "slot %s: %s; trying again until it works".formatted(slot, e.getMessage()));
  }

  void stale(ClaimScript.Rows of) {
    warnings.about(
        "stale",
        LOG::warn,
        () ->
            ("rows of %s by session %s, which has lost ownership, are kept and never flushed,"
                    + " see 'gameq-writer stale'")
                .formatted(of.owner(), of.session()));
    stats.foundStale();
  }

  /** Messages that were handled in vain. */
  void gaveBack(ClaimScript.Rows of, List<MessageChange.Publish> messages) {
    warnings.about(
        "gave back messages",
        LOG::warn,
        () ->
            ("gave back %s messages that session %s of %s had handled with rows that do not"
                    + " count, as %s/%s: they are handled again")
                .formatted(
                    messages.size(),
                    of.session(),
                    of.owner(),
                    messages.get(0).id().topic(),
                    messages.get(0).id().id()));
  }

  void broken(String key) {
    warnings.about(
        "broken",
        LOG::error,
        () ->
            ("Redis key %s is not the hash that gameq keeps there: its owner is not flushed;"
                    + " somebody else writes into gameq's keys, remove or rename it")
                .formatted(key));
  }

  void ofNobody(ClaimScript.Rows of) {
    warnings.about(
        "no owner",
        LOG::error,
        () ->
            ("owner %s has unflushed rows of session %s but no row in gameq_owner: they stay in"
                    + " Redis")
                .formatted(of.owner(), of.session()));
  }

  // --- of a flush

  /** 'dead list' has all that are set aside. */
  void committed(List<Written> written) {
    for (Written of : written) {
      of.setAside().forEach(this::setAside);
      of.kept().forEach(this::kept);
    }
  }

  private void setAside(Refused row) {
    warnings.about(
        "set aside " + row.table() + " " + row.errorCode(),
        LOG::error,
        () ->
            "set aside %s:%s of %s in version %s as a dead letter after %s attempts: %s"
                .formatted(
                    row.table(),
                    row.rowKey(),
                    row.owner(),
                    Long.toUnsignedString(row.version()),
                    row.attempts(),
                    row.errorText()));
  }

  private void kept(RowChange row) {
    warnings.about(
        "kept",
        LOG::warn,
        () ->
            ("%s of %s waits in Redis for the other half of a handover, or while many rows of"
                    + " its owner are slow; a half until its node heals, its owner is opened again,"
                    + " or gameq-recovery replays its WAL")
                .formatted(row.key(), row.owner()));
  }

  void holdsUp(int owners, String reason) {
    warnings.about(
        "holds up",
        LOG::warn,
        () ->
            "one of %s owners holds up the others (%s): they are flushed apart"
                .formatted(owners, reason));
  }

  void left(int owners, String reason) {
    warnings.about(
        "left",
        LOG::warn,
        () -> "%s owners are left to the new primary: %s".formatted(owners, reason));
  }

  void locked(Claim of, String reason, long delayMillis) {
    warnings.about(
        "locked",
        LOG::info,
        () ->
            "owner %s is locked in MySQL (%s); trying again in %s"
                .formatted(of.owner(), reason, Shown.duration(delayMillis)));
  }

  void notYet(Claim of, String reason, long delayMillis) {
    warnings.about(
        "not yet",
        LOG::warn,
        () ->
            "owner %s cannot be flushed yet (%s), attempt %s; trying again in %s"
                .formatted(of.owner(), reason, of.attempts(), Shown.duration(delayMillis)));
  }

  void fenced(Fenced fenced) {
    warnings.about(
        "handled twice",
        LOG::error,
        () ->
            ("session %s of %s was ended, and what it had committed is not written: %s; see"
                    + " 'gameq-writer stale'")
                .formatted(fenced.of().session(), fenced.of().owner(), fenced.why()));
  }

  void ended(Outcome outcome) {
    stats.ended(outcome);
  }

  void flushed(List<Written> written) {
    stats.flushed(written);
  }

  void notOwned(int claims) {
    stats.notOwned(claims);
  }

  void gaveBack(int claims) {
    stats.gaveBack(claims);
  }

  // --- of sessions

  void restores(OwnerId owner, SessionId session) {
    warnings.about(
        "lost session",
        LOG::warn,
        () -> "MySQL lost session %s of %s: writing it again".formatted(session, owner));
  }

  void finishesOpen(OwnerId owner, SessionId session) {
    warnings.about(
        "finishes open",
        LOG::warn,
        () ->
            "finishing the open of %s by session %s, whose node is gone".formatted(owner, session));
  }
}
