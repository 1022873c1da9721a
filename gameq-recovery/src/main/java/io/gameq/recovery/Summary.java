package io.gameq.recovery;

import io.gameq.healing.LeftMessages;
import io.gameq.healing.LeftWalReplay.WalSet;
import io.gameq.healing.PlannedRow.Status;
import io.gameq.healing.WalFolder;
import io.gameq.terminal.Shown;
import io.gameq.wal.WalDamage;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** A plan on one screen. Stateless. */
final class Summary {
  private static final int MOST_WALS = 8;
  private static final int MOST_DAMAGES = 3;
  private static final int MOST_OWNERS = 5;
  private static final int MOST_SLOTS = 16;

  /** Also where there are none. */
  private static final Set<Status> ALWAYS =
      Set.of(Status.IN_MYSQL, Status.IN_REDIS, Status.LOST, Status.CONFLICT);

  private Summary() {}

  /** What was read. */
  static void wals(PrintWriter out, WalSet wals, BitSet alive) {
    List<WalFolder> folders = wals.folders();
    out.println(
        "%s of namespace %s"
            .formatted(Shown.count(folders.size(), "WAL"), folders.get(0).header().namespace()));
    for (int i = 0; i < folders.size() && i < MOST_WALS; i++) {
      WalFolder folder = folders.get(i);
      out.println(
          "  " + folder.directory().getFileName() + (alive.get(i) ? "  NODE IS ALIVE" : ""));
      out.println("    " + contents(folder));
      damage(out, folder);
    }
    if (folders.size() > MOST_WALS) {
      out.println("  ... and %s more: 'inspect' lists them".formatted(folders.size() - MOST_WALS));
      folders.subList(MOST_WALS, folders.size()).forEach(folder -> damage(out, folder));
    }
  }

  /** What a WAL holds, in one line. */
  static String contents(WalFolder folder) {
    return String.format(
        Locale.ROOT,
        "%s with %s%s, %,d failed; %s%s%s",
        Shown.count(folder.commits(), "commit"),
        Shown.count(folder.changes(), "row change"),
        folder.messages() == 0 ? "" : " and " + Shown.count(folder.messages(), "message change"),
        folder.failed(),
        Shown.count(folder.adopted(), "row") + " adopted",
        folder.carried() == 0
            ? ""
            : ", " + Shown.count(folder.carried(), "row") + " carried forward",
        folder.oldestVersion() < 0
            ? ""
            : "; %s to %s UTC"
                .formatted(
                    Shown.utc(Shown.time(folder.oldestVersion())),
                    Shown.utc(Shown.time(folder.newestVersion()))));
  }

  private static void damage(PrintWriter out, WalFolder folder) {
    folder.damage().stream()
        .limit(MOST_DAMAGES)
        .forEach(damage -> out.println("    " + damaged(folder, damage)));
    if (folder.damage().size() > MOST_DAMAGES) {
      out.println(
          "    ... and %s more: 'inspect' lists them"
              .formatted(folder.damage().size() - MOST_DAMAGES));
    }
    if (folder.missing() > 0) {
      out.println(
          ("    %s missing: what they held cannot be replayed, and a commit whose failure"
                  + " they noted looks as if it had passed")
              .formatted(Shown.count(folder.missing(), "record")));
    }
  }

  /** What a node leaves that was killed in the middle of a record is worth a note, no alarm. */
  static String damaged(WalFolder folder, WalDamage damage) {
    return (folder.isWhole() ? "note: " : "DAMAGED: ") + damage;
  }

  /** What became of the rows. */
  static void totals(PrintWriter out, Plan totals) {
    out.println();
    out.println(
        "The newest change of each of %s, of %s:"
            .formatted(Shown.count(totals.all(), "row"), Shown.count(totals.allOwners(), "owner")));
    for (Status status : Status.values()) {
      if (ALWAYS.contains(status) || totals.rows(status) > 0) {
        String owners =
            status == Status.IN_MYSQL || totals.rows(status) == 0
                ? ""
                : " (%s)".formatted(Shown.count(totals.owners(status), "owner"));
        out.println(
            String.format(Locale.ROOT, "%,14d  %s%s", totals.rows(status), status.text(), owners));
      }
    }
    if (totals.restoredSessions() > 0) {
      out.println(
          String.format(
              Locale.ROOT,
              "%,14d  sessions that MySQL lost: a failover lost commits; replay restores them",
              totals.restoredSessions()));
    }
    slots(out, totals.lostBySlot());
  }

  /**
   * What Redis lacks of the messages of WALs whose nodes are gone; nothing where there are none.
   */
  static void messages(PrintWriter out, LeftMessages.Totals messages) {
    if (messages.changes() == 0) {
      return;
    }
    out.println();
    out.println(
        String.format(
            Locale.ROOT,
            "Of %s of nodes that are gone Redis lacks %,d%s.",
            Shown.count(messages.changes(), "message change"),
            messages.lacking(),
            messages.tooOld() == 0
                ? ""
                : String.format(
                    Locale.ROOT,
                    ", and perhaps %,d older than 6 days, which are left alone",
                    messages.tooOld())));
  }

  private static void slots(PrintWriter out, long[] lost) {
    List<String> slots = new ArrayList<>();
    for (int slot = 0; slot < lost.length; slot++) {
      if (lost[slot] > 0) {
        slots.add(String.format(Locale.ROOT, "%d: %,d", slot, lost[slot]));
      }
    }
    if (!slots.isEmpty() && slots.size() <= MOST_SLOTS) {
      out.println("Lost by slot: " + String.join(", ", slots));
    }
  }

  /** The first owners of what replay does not simply put back. */
  static void named(PrintWriter out, Plan totals) {
    for (Status status : Status.values()) {
      if (status == Status.LIVE) {
        continue; // its node sees to it
      }
      int printed = 0;
      for (Plan.Named owner : totals.named(status)) {
        if (printed == 0) {
          out.println();
          out.println(
              "%s, the first of %s:"
                  .formatted(heading(status), Shown.count(totals.owners(status), "owner")));
        }
        if (printed++ == MOST_OWNERS) {
          break;
        }
        out.println(
            "  %s: %s, such as %s%s"
                .formatted(
                    owner.owner.isInbox() ? Shown.whose(owner.owner) : Shown.text(owner.owner.id()),
                    Shown.count(owner.rows, "row"),
                    Shown.text(owner.firstKey),
                    owner.reason.isEmpty() ? "" : ":\n      " + Shown.text(owner.reason)));
      }
    }
  }

  private static String heading(Status status) {
    return switch (status) {
      case CONFLICT -> "Conflicts";
      case PARKED -> "Parked rows";
      case DEAD_LETTER -> "Dead letters";
      case TOO_OLD -> "Too old";
      case OTHER_CONTENT -> "Different values";
      default -> "Not readable";
    };
  }
}
