package io.gameq.recovery;

import io.gameq.healing.LeftMessages;
import io.gameq.healing.OwnerGroup.RowHash;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.PlannedRow.Status;
import io.gameq.healing.Planner;
import io.gameq.healing.WalFolder;
import io.gameq.owner.OwnerId;
import io.gameq.recovery.PlanningCommand.ProgressLine;
import io.gameq.recovery.PlanningCommand.Servers;
import io.gameq.terminal.Shown;
import io.gameq.wal.WalReader.WalDamage;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Counts a plan, keeps the first names of what an engineer has to look at, and prints it all on one
 * screen. Not thread-safe.
 */
final class Plan {
  /** More owners with something to look at are counted, not named: the details name all. */
  private static final int MOST_NAMED = 1_000;

  private static final int MOST_WALS = 8;
  private static final int MOST_DAMAGES = 3;
  private static final int MOST_OWNERS = 5;
  private static final int MOST_SLOTS = 16;

  /** Also where there are none. */
  private static final Set<Status> ALWAYS =
      Set.of(Status.IN_MYSQL, Status.IN_REDIS, Status.LOST, Status.CONFLICT);

  private final Map<Status, Long> rows = new EnumMap<>(Status.class);
  private final Map<Status, Map<String, Named>> named = new EnumMap<>(Status.class);
  private final Map<Status, Set<Long>> owners = new EnumMap<>(Status.class);
  private final Set<Long> allOwners = new HashSet<>();
  private final Set<Long> restored = new HashSet<>();
  private final Servers open;
  private final Planner planner;
  private final long[] lostBySlot;
  private LeftMessages.@Nullable Totals messages;

  /** An owner with something to look at. */
  static final class Named {
    final OwnerId owner;

    /** Of its first row, and why that has this status. */
    final String firstKey;

    final String reason;
    long rows;

    Named(PlannedRow first) {
      owner = first.owner();
      firstKey = first.change().key();
      reason = first.reason();
    }
  }

  /** Nothing is planned yet. */
  Plan(Servers open, Planner.Options options, ProgressLine progress) {
    this.open = open;
    planner = new Planner(open.wals(), open.lookups(), options, progress::step);
    lostBySlot = new long[open.wals().folders().get(0).header().slots()];
  }

  Planner planner() {
    return planner;
  }

  void row(PlannedRow row) {
    Status status = row.status();
    rows.merge(status, 1L, Long::sum);
    String owner = row.owner().encoded();
    long id = new RowHash(1, 2).owner(row.owner().base().encoded()).high(); // counts only
    allOwners.add(id);
    if (status != Status.IN_MYSQL) {
      owners.computeIfAbsent(status, of -> new HashSet<>()).add(id);
    }
    if (status == Status.LOST) {
      lostBySlot[row.owner().slot(lostBySlot.length)]++;
    }
    if (row.restoresSession()) {
      restored.add(id);
    }
    if (status.callsForAction() && status != Status.LOST) {
      Map<String, Named> of = named.computeIfAbsent(status, s -> new LinkedHashMap<>());
      Named its = of.get(owner);
      if (its == null && of.size() < MOST_NAMED) {
        its = new Named(row);
        of.put(owner, its);
      }
      if (its != null) {
        its.rows++;
      }
    }
  }

  /** Rows with this status. */
  long rows(Status status) {
    return rows.getOrDefault(status, 0L);
  }

  /** Owners with rows of this status. */
  long owners(Status status) {
    return owners.getOrDefault(status, Set.of()).size();
  }

  /** The first thousand of them. */
  Iterable<Named> named(Status status) {
    return named.getOrDefault(status, Map.of()).values();
  }

  long all() {
    return rows.values().stream().mapToLong(Long::longValue).sum();
  }

  long allOwners() {
    return allOwners.size();
  }

  /** Owners whose session MySQL lost. */
  long restoredSessions() {
    return restored.size();
  }

  /** What Redis lacks of the messages of nodes that are gone; counted once. */
  LeftMessages.Totals messages() {
    if (messages == null) {
      messages = LeftMessages.totals(open.lookups(), planner.gone());
    }
    return messages;
  }

  /** Whether somebody has to act, or to wait and look again. */
  int exitCode() {
    boolean isWhole = open.wals().folders().stream().allMatch(WalFolder::isWhole);
    return restored.isEmpty()
            && rows.keySet().stream().noneMatch(Status::callsForAction)
            && messages().lacking() == 0
            && isWhole
            && !open.leavesOut()
        ? RecoveryMain.CLEAN
        : RecoveryMain.FOUND_SOMETHING;
  }

  /** Prints it on one screen. */
  void print(PrintWriter out, boolean areOwnersNamed) {
    printWals(out);
    printTotals(out);
    if (areOwnersNamed) {
      printNamed(out);
    }
    printMessages(out);
  }

  /** What was read. */
  private void printWals(PrintWriter out) {
    List<WalFolder> folders = open.wals().folders();
    BitSet alive = planner.alive();
    out.println(
        "%s of namespace %s"
            .formatted(Shown.count(folders.size(), "WAL"), folders.get(0).header().namespace()));
    for (int i = 0; i < folders.size() && i < MOST_WALS; i++) {
      WalFolder folder = folders.get(i);
      out.println(
          "  " + folder.directory().getFileName() + (alive.get(i) ? "  NODE IS ALIVE" : ""));
      out.println("    " + contents(folder));
      printDamage(out, folder);
    }
    if (folders.size() > MOST_WALS) {
      out.println("  ... and %s more: 'inspect' lists them".formatted(folders.size() - MOST_WALS));
      folders.subList(MOST_WALS, folders.size()).forEach(folder -> printDamage(out, folder));
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

  private static void printDamage(PrintWriter out, WalFolder folder) {
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
  private void printTotals(PrintWriter out) {
    out.println();
    out.println(
        "The newest change of each of %s, of %s:"
            .formatted(Shown.count(all(), "row"), Shown.count(allOwners(), "owner")));
    for (Status status : Status.values()) {
      if (ALWAYS.contains(status) || rows(status) > 0) {
        String owners =
            status == Status.IN_MYSQL || rows(status) == 0
                ? ""
                : " (%s)".formatted(Shown.count(owners(status), "owner"));
        out.println(String.format(Locale.ROOT, "%,14d  %s%s", rows(status), status.text(), owners));
      }
    }
    if (restoredSessions() > 0) {
      out.println(
          String.format(
              Locale.ROOT,
              "%,14d  sessions that MySQL lost: a failover lost commits; replay restores them",
              restoredSessions()));
    }
    printLostBySlot(out);
  }

  /**
   * What Redis lacks of the messages of WALs whose nodes are gone; nothing where there are none.
   */
  private void printMessages(PrintWriter out) {
    LeftMessages.Totals messages = messages();
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

  private void printLostBySlot(PrintWriter out) {
    List<String> slots = new ArrayList<>();
    for (int slot = 0; slot < lostBySlot.length; slot++) {
      if (lostBySlot[slot] > 0) {
        slots.add(String.format(Locale.ROOT, "%d: %,d", slot, lostBySlot[slot]));
      }
    }
    if (!slots.isEmpty() && slots.size() <= MOST_SLOTS) {
      out.println("Lost by slot: " + String.join(", ", slots));
    }
  }

  /** The first owners of what replay does not simply put back. */
  private void printNamed(PrintWriter out) {
    for (Status status : Status.values()) {
      if (status == Status.LIVE) {
        continue; // its node sees to it
      }
      int printed = 0;
      for (Plan.Named owner : named(status)) {
        if (printed == 0) {
          out.println();
          out.println(
              "%s, the first of %s:"
                  .formatted(heading(status), Shown.count(owners(status), "owner")));
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
