package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.Limits;
import io.gameq.OwnershipLostException;
import io.gameq.change.ChangedRow;
import io.gameq.change.CommitPart;
import io.gameq.change.SlotMessages;
import io.gameq.rows.RowOp;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks a commit before anything of it is sent: its sessions own, it is within the limits, and its
 * moves are whole. Stateless.
 */
final class CommitChecks {
  private CommitChecks() {}

  /** Throws GameQueueException naming what is wrong; nothing was written then. */
  static void check(Limits limits, List<CommitPart> parts, List<SlotMessages> messages) {
    parts.forEach(CommitChecks::checkOwned);
    checkLimits(limits, parts, messages);
    checkMoves(parts);
  }

  private static void checkOwned(CommitPart part) {
    if (part.session().isLost()) {
      throw new OwnershipLostException(
          part.session().owner().id(),
          "session %s no longer owns %s: a newer session was opened; open the owner again"
              .formatted(part.session().id(), part.session().owner()));
    }
  }

  /** Messages count as rows. */
  private static void checkLimits(
      Limits limits, List<CommitPart> parts, List<SlotMessages> messages) {
    int rows = 0;
    long bytes = 0;
    for (SlotMessages of : messages) {
      rows += of.changes().size();
      bytes += of.bytes();
    }
    for (CommitPart part : parts) {
      rows += part.rows().size();
      bytes += part.bytes();
    }
    if (rows > limits.commitRows()) {
      throw new GameQueueException(
          "a commit of %d %s, the limit is %d: commit in smaller steps, or raise maxCommit"
              .formatted(
                  rows, messages.isEmpty() ? "rows" : "rows and messages", limits.commitRows()));
    }
    if (bytes > limits.commitBytes()) {
      throw new GameQueueException(
          "a commit of %d bytes, the limit is %d: commit in smaller steps, or raise maxCommit"
              .formatted(bytes, limits.commitBytes()));
    }
  }

  /** Whether any row moves between two owners. */
  static boolean moves(List<CommitPart> parts) {
    for (CommitPart part : parts) {
      if (hasHalf(part)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Half of a move would show a row twice, or to nobody; and a row has one new image in a commit.
   */
  private static void checkMoves(List<CommitPart> parts) {
    if (parts.size() < 2 && !moves(parts)) {
      return;
    }
    Map<String, ChangedRow> away = new HashMap<>();
    Map<String, ChangedRow> here = new HashMap<>();
    for (CommitPart part : parts) {
      for (ChangedRow row : part.rows()) {
        if ((row.op() == RowOp.MOVED ? away : here).put(row.key(), row) != null) {
          throw new GameQueueException(
              "row " + row.key() + " is changed by two sessions of one commit");
        }
      }
    }
    here.values().stream()
        .filter(row -> row.movedIn() && !away.containsKey(row.key()))
        .forEach(CommitChecks::refuseHalf);
    away.values().stream()
        .filter(row -> !here.containsKey(row.key()) || !here.get(row.key()).movedIn())
        .forEach(CommitChecks::refuseHalf);
  }

  private static boolean hasHalf(CommitPart part) {
    for (ChangedRow row : part.rows()) {
      if (row.movedIn() || row.op() == RowOp.MOVED) {
        return true;
      }
    }
    return false;
  }

  private static void refuseHalf(ChangedRow row) {
    throw new GameQueueException(
        "row "
            + row.key()
            + " moves between two owners: commit both sessions together with GameQueue.commit, or"
            + " roll both back");
  }
}
