package io.gameq.writer.doctor;

import io.gameq.writer.redis.Finding;
import java.util.Locale;

/**
 * What can be wrong in Redis. Most kinds come about by hand only: doctor names them and does not
 * repair them. {@code ailments.lua} finds them.
 */
public enum FindingKind {
  WRONG_TYPE(
      "key of the wrong type",
      "somebody else wrote there, or sets, lists and hashes of gameq were overwritten by hand"),
  DAMAGED_ENTRY(
      "entry that cannot be read",
      "somebody else wrote it; a claim that meets it fails, and with it its whole slot"),
  CLAIM_WITHOUT_ROWS("claim without rows", "the claimed hash was deleted by hand"),
  CLAIM_WITHOUT_LEASE(
      "claim without lease", "the lease was removed by hand, or was in a key of the wrong type"),
  CLAIMED_WITHOUT_CLAIM(
      "claimed rows without a claim",
      "the claim was removed by hand, or a claim ended in the middle at a key of the wrong type"),
  LEASE_WITHOUT_CLAIM("lease without a claim", "the claim was removed by hand"),
  INFLIGHT_LEFTOVER(
      "entry of a writer that has not claimed it",
      "the claim was removed by hand; most often of a writer that is gone"),
  UNOWNED(
      true,
      "rows whose session Redis does not know",
      "Redis lost the session, and no writer reached MySQL since, or MySQL has none",
      "has the session told to Redis that owns by MySQL, and makes the rows due; where MySQL has"
          + " none they stay"),
  DIRTY_WITHOUT_DUE(
      "rows that nothing makes due",
      "the time was removed by hand, or was in a key of the wrong type"),
  DUE_FAR_OFF(
      true,
      "rows that are due in more than 11 minutes",
      "Redis' clock was ahead and went back, and no writer claims since; or somebody else wrote the"
          + " time: merge windows are 10 minutes at most",
      "makes them due now"),
  STALE_NOT_LISTED("stale rows that are not listed", "their entry was removed by hand"),
  STALE_GONE("listed stale rows that are gone", "their hash was deleted by hand"),
  DUE_WITHOUT_DIRTY(
      false,
      "due, without rows",
      "rows were deleted by hand, or no writer claims: a claim drops such entries",
      "leaves it: the next claim drops it"),
  READY_WITHOUT_DIRTY(
      false,
      "next to be claimed, without rows",
      "rows were deleted by hand, or no writer claims: a claim drops such entries",
      "leaves it: the next claim drops it"),
  INBOX_NOT_LISTED(
      "rows that were sent to an owner, and that opens and reads do not see",
      "the entry of their inbox was removed by hand"),
  INBOX_LEFTOVER("listed inbox without rows", "rows were deleted by hand"),
  CLAIM_LEFTOVER(
      "attempts that are remembered of an owner without rows", "rows were deleted by hand"),
  CLOSING_LEFTOVER("closing, without rows", "rows were deleted by hand"),
  HEALING_LEFTOVER(
      true,
      "waits for rows of a session that Redis does not know",
      "its node died before it had healed, and the session ended since",
      "ends the waiting; a session that is told to Redis again waits anew"),
  HELD_WITHOUT_CLAIM("message held without a claim", "the claim was removed by hand"),
  HELD_WITHOUT_LEASE(
      "message held without a lease",
      "the lease was removed by hand, or was in a key of the wrong type"),
  MESSAGE_WITHOUT_DUE(
      "message that nothing makes due",
      "the time was removed by hand, or was in a key of the wrong type"),
  GROUP_WITHOUT_DUE(
      "group of messages that nothing makes due",
      "the time was removed by hand, or was in a key of the wrong type"),
  LANE_WITHOUT_MESSAGE("due, without a message", "messages were deleted by hand"),
  THERE(
      false,
      "key that gameq does not use",
      "a process ran with another number of slots",
      "leaves it: look at it, then delete it. Rows in it are in no other place: gameq-recovery"
          + " replays them from the WAL of their node");

  private static final String BY_HAND =
      "leaves it, since no script of gameq's does that. Rows of the slot are in MySQL and in the"
          + " WALs of their nodes: stop the writers, delete the slot's keys, and replay the WALs"
          + " with gameq-recovery";

  private final boolean isMended;
  private final String title;
  private final String cause;
  private final String repair;

  FindingKind(String title, String cause) {
    this(false, title, cause, BY_HAND);
  }

  FindingKind(boolean isMended, String title, String cause, String repair) {
    this.isMended = isMended;
    this.title = title;
    this.cause = cause;
    this.repair = repair;
  }

  /** What it is, in a few words. */
  public String title() {
    return title;
  }

  /** How it can come about. */
  public String cause() {
    return cause;
  }

  /** What a repair does about it. */
  public String repair() {
    return repair;
  }

  /** Whether a repair can mend it. */
  boolean isMended() {
    return isMended;
  }

  static FindingKind of(Finding finding) {
    return valueOf(finding.kind().toUpperCase(Locale.ROOT));
  }

  /** Where it is, and what is there, for a person. */
  String where(Finding of) {
    return switch (this) {
      case WRONG_TYPE, THERE -> of.thing() + " (" + of.state() + ")";
      default -> of.thing().toString();
    };
  }
}
