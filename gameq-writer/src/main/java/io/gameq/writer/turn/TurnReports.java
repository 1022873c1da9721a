package io.gameq.writer.turn;

import io.gameq.GameQueueException;
import io.gameq.log.RepeatedWarnings;
import io.gameq.message.MessageChange;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.FlushTransaction.Fenced;
import io.gameq.mysql.flush.FlushTransaction.Outcome;
import io.gameq.mysql.flush.FlushTransaction.Written;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.script.Claim;
import io.gameq.redis.script.ClaimScript;
import java.util.List;
import java.util.Locale;
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
              String.format(
                  Locale.ROOT,
                  "took back owner %s from writer %s, whose lease ran out",
                  of.owner(),
                  of.writer()));
    }
  }

  /** The other slots go on. */
  public void cannotClaim(int slot, GameQueueException e) {
    warnings.about(
        "slot " + slot,
        LOG::warn,
        () ->
            String.format(
                Locale.ROOT, "slot %d: %s; trying again until it works", slot, e.getMessage()));
  }

  void stale(ClaimScript.Rows of) {
    warnings.about(
        "stale",
        LOG::warn,
        () ->
            String.format(
                Locale.ROOT,
                "rows of %s by session %s, which has lost ownership, are kept and never flushed,"
                    + " see 'gameq-writer stale'",
                of.owner(),
                of.session()));
    stats.foundStale();
  }

  /** Messages that were handled in vain. */
  void gaveBack(ClaimScript.Rows of, List<MessageChange.Publish> messages) {
    warnings.about(
        "gave back messages",
        LOG::warn,
        () ->
            String.format(
                Locale.ROOT,
                "gave back %d messages that session %s of %s had handled with rows that do not"
                    + " count, as %s/%s: they are handled again",
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
            String.format(
                Locale.ROOT,
                "Redis key %s is not the hash that gameq keeps there: its owner is not flushed;"
                    + " somebody else writes into gameq's keys, remove or rename it",
                key));
  }

  void ofNobody(ClaimScript.Rows of) {
    warnings.about(
        "no owner",
        LOG::error,
        () ->
            String.format(
                Locale.ROOT,
                "owner %s has unflushed rows of session %s but no row in gameq_owner: they stay in"
                    + " Redis",
                of.owner(),
                of.session()));
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
            String.format(
                Locale.ROOT,
                "set aside %s:%s of %s in version %s as a dead letter after %d attempts: %s",
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
            String.format(
                Locale.ROOT,
                "%s of %s waits in Redis for the other half of a handover, or while many rows of"
                    + " its owner are slow; a half until its node heals, its owner is opened again,"
                    + " or gameq-recovery replays its WAL",
                row.key(),
                row.owner()));
  }

  void holdsUp(int owners, String reason) {
    warnings.about(
        "holds up",
        LOG::warn,
        () ->
            String.format(
                Locale.ROOT,
                "one of %d owners holds up the others (%s): they are flushed apart",
                owners,
                reason));
  }

  void left(int owners, String reason) {
    warnings.about(
        "left",
        LOG::warn,
        () ->
            String.format(
                Locale.ROOT, "%d owners are left to the new primary: %s", owners, reason));
  }

  void locked(Claim of, String reason, long delayMillis) {
    warnings.about(
        "locked",
        LOG::info,
        () ->
            String.format(
                Locale.ROOT,
                "owner %s is locked in MySQL (%s); trying again in %d ms",
                of.owner(),
                reason,
                delayMillis));
  }

  void notYet(Claim of, String reason, long delayMillis) {
    warnings.about(
        "not yet",
        LOG::warn,
        () ->
            String.format(
                Locale.ROOT,
                "owner %s cannot be flushed yet (%s), attempt %d; trying again in %d ms",
                of.owner(),
                reason,
                of.attempts(),
                delayMillis));
  }

  void fenced(Fenced fenced) {
    warnings.about(
        "handled twice",
        LOG::error,
        () ->
            String.format(
                Locale.ROOT,
                "session %s of %s was ended, and what it had committed is not written: %s; see"
                    + " 'gameq-writer stale'",
                fenced.of().session(),
                fenced.of().owner(),
                fenced.why()));
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
        () ->
            String.format(
                Locale.ROOT, "MySQL lost session %s of %s: writing it again", session, owner));
  }

  void finishesOpen(OwnerId owner, SessionId session) {
    warnings.about(
        "finishes open",
        LOG::warn,
        () ->
            String.format(
                Locale.ROOT,
                "finishing the open of %s by session %s, whose node is gone",
                owner,
                session));
  }
}
