package io.gameq.recovery;

import io.gameq.healing.MessageReplay;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.PlannedRow.Status;
import io.gameq.healing.Planner;
import io.gameq.healing.WalFolder;
import io.gameq.healing.WalFolder.Count;
import io.gameq.owner.OwnerId;
import io.gameq.recovery.ServerOptions.RecoveryServers;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.wal.FileScan.WalDamage;
import java.io.PrintWriter;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
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

  private final Map<Status, StatusRows> found = new EnumMap<>(Status.class);
  private final Set<Long> allOwners = new HashSet<>();
  private final Set<Long> restored = new HashSet<>();
  private final RecoveryServers open;
  private final Planner planner;
  private final long[] lostBySlot;
  private MessageReplay.@Nullable Totals messages;

  /** What has one status. */
  private static final class StatusRows {
    long rows;
    final Set<Long> owners = new HashSet<>();
    final Map<OwnerId, OwnerSample> named = new LinkedHashMap<>();
  }

  /** An owner with something to look at. */
  static final class OwnerSample {
    final OwnerId owner;

    /** Of its first row, and why that has this status. */
    final String firstKey;

    final String reason;
    long rows;

    OwnerSample(PlannedRow first) {
      owner = first.owner();
      firstKey = first.change().key();
      reason = first.reason();
    }
  }

  /** Nothing is planned yet. */
  Plan(RecoveryServers open, Planner.Options options, Consumer<String> progress) {
    this.open = open;
    planner = new Planner(open.wals(), open.lookups(), options, progress);
    lostBySlot = new long[open.wals().folders().get(0).header().slots()];
  }

  Planner planner() {
    return planner;
  }

  void add(PlannedRow row) {
    Status status = row.status();
    StatusRows of = found.computeIfAbsent(status, s -> new StatusRows());
    of.rows++;
    long id = idOf(row.owner().base().encoded());
    allOwners.add(id);
    if (status != Status.IN_MYSQL) {
      of.owners.add(id);
    }
    if (row.restoresSession()) {
      restored.add(id);
    }
    if (status == Status.LOST) {
      lostBySlot[row.owner().slot(lostBySlot.length)]++;
    } else if (status.callsForAction()
        && (of.named.size() < MOST_NAMED || of.named.containsKey(row.owner()))) {
      of.named.computeIfAbsent(row.owner(), owner -> new OwnerSample(row)).rows++;
    }
  }

  /** Stands for a name: where they are counted, names of millions would not fit. */
  static long idOf(String name) {
    long id = name.length();
    for (int i = 0; i < name.length(); i++) {
      id = (id ^ name.charAt(i)) * 0x9E3779B97F4A7C15L;
      id ^= id >>> 32;
    }
    return id;
  }

  private StatusRows found(Status status) {
    return found.getOrDefault(status, new StatusRows());
  }

  /** Rows with this status. */
  long rows(Status status) {
    return found(status).rows;
  }

  /** The first thousand owners with rows of this status, where somebody has to look. */
  Collection<OwnerSample> named(Status status) {
    return found(status).named.values();
  }

  long all() {
    return found.values().stream().mapToLong(of -> of.rows).sum();
  }

  long allOwners() {
    return allOwners.size();
  }

  /** Owners whose session MySQL lost. */
  long restoredSessions() {
    return restored.size();
  }

  /** What Redis lacks of the messages of nodes that are gone; counted once. */
  MessageReplay.Totals messages() {
    if (messages == null) {
      messages = MessageReplay.totals(open.lookups(), planner.gone());
    }
    return messages;
  }

  /** Whether somebody has to act, or to wait and look again. */
  int exitCode() {
    return restored.isEmpty()
            && found.keySet().stream().noneMatch(Status::callsForAction)
            && messages().lacking() == 0
            && open.wals().folders().stream().allMatch(of -> of.report().isWhole())
            && !open.leavesOut()
        ? ExitCodes.OK
        : ExitCodes.FOUND_SOMETHING;
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

  /** With commas. */
  static String number(long number) {
    return Shown.line("%,d", number);
  }

  /** What was read. */
  private void printWals(PrintWriter out) {
    List<WalFolder> folders = open.wals().folders();
    out.println(
        Shown.line(
            "%s of namespace %s",
            Shown.count(folders.size(), "WAL"), folders.get(0).header().namespace()));
    for (int i = 0; i < folders.size(); i++) {
      WalFolder folder = folders.get(i);
      if (i < MOST_WALS) {
        boolean isAlive = planner.alive().get(i);
        out.println("  " + folder.directory().getFileName() + (isAlive ? "  NODE IS ALIVE" : ""));
        out.println("    " + contents(folder));
      } else if (i == MOST_WALS) {
        out.println(
            Shown.line("  ... and %s more: 'inspect' lists them", folders.size() - MOST_WALS));
      }
      printDamage(out, folder);
    }
  }

  /** What a WAL holds, in one line. */
  static String contents(WalFolder of) {
    long messages = of.count(Count.MESSAGES);
    long carried = of.count(Count.CARRIED);
    return Shown.line(
        "%s with %s%s, %s failed; %s adopted%s%s",
        Shown.count(of.count(Count.COMMITS), "commit"),
        Shown.count(of.count(Count.CHANGES), "row change"),
        messages == 0 ? "" : " and " + Shown.count(messages, "message change"),
        number(of.count(Count.FAILED)),
        Shown.count(of.count(Count.ADOPTED), "row"),
        carried == 0 ? "" : ", " + Shown.count(carried, "row") + " carried forward",
        of.oldestVersion() < 0
            ? ""
            : Shown.line(
                "; %s to %s UTC",
                Shown.utc(Shown.time(of.oldestVersion())),
                Shown.utc(Shown.time(of.newestVersion()))));
  }

  private static void printDamage(PrintWriter out, WalFolder folder) {
    List<WalDamage> damage = folder.report().damage();
    damage.stream().limit(MOST_DAMAGES).forEach(one -> out.println("    " + damaged(folder, one)));
    if (damage.size() > MOST_DAMAGES) {
      out.println(
          Shown.line("    ... and %s more: 'inspect' lists them", damage.size() - MOST_DAMAGES));
    }
    if (folder.report().missing() > 0) {
      out.println(
          Shown.line(
              "    %s missing: what they held cannot be replayed, and a commit whose failure"
                  + " they noted looks as if it had passed",
              Shown.count(folder.report().missing(), "record")));
    }
  }

  /** What a node leaves that was killed in the middle of a record is worth a note, no alarm. */
  static String damaged(WalFolder folder, WalDamage damage) {
    return (folder.report().isWhole() ? "note: " : "DAMAGED: ") + damage;
  }

  /** What became of the rows. */
  private void printTotals(PrintWriter out) {
    out.println();
    out.println(
        Shown.line(
            "The newest change of each of %s, of %s:",
            Shown.count(all(), "row"), Shown.count(allOwners(), "owner")));
    for (Status status : Status.values()) {
      StatusRows of = found(status);
      if (ALWAYS.contains(status) || of.rows > 0) {
        boolean isPlain = status == Status.IN_MYSQL || of.rows == 0;
        String owners = isPlain ? "" : Shown.line(" (%s)", Shown.count(of.owners.size(), "owner"));
        out.println(Shown.line("%14s  %s%s", number(of.rows), status.text(), owners));
      }
    }
    if (restoredSessions() > 0) {
      out.println(
          Shown.line(
              "%14s  sessions that MySQL lost: a failover lost commits; replay restores them",
              number(restoredSessions())));
    }
    List<String> slots =
        IntStream.range(0, lostBySlot.length)
            .filter(slot -> lostBySlot[slot] > 0)
            .mapToObj(slot -> slot + ": " + number(lostBySlot[slot]))
            .toList();
    if (!slots.isEmpty() && slots.size() <= MOST_SLOTS) {
      out.println("Lost by slot: " + String.join(", ", slots));
    }
  }

  /**
   * What Redis lacks of the messages of WALs whose nodes are gone; nothing where there are none.
   */
  private void printMessages(PrintWriter out) {
    MessageReplay.Totals all = messages();
    if (all.changes() > 0) {
      String tooOld =
          Shown.line(
              ", and perhaps %s older than 6 days, which are left alone", number(all.tooOld()));
      out.println();
      out.println(
          Shown.line(
              "Of %s of nodes that are gone Redis lacks %s%s.",
              Shown.count(all.changes(), "message change"),
              number(all.lacking()),
              all.tooOld() == 0 ? "" : tooOld));
    }
  }

  /** The first owners of what replay does not simply put back; of a live node's it sees to them. */
  private void printNamed(PrintWriter out) {
    for (Status status : Status.values()) {
      Collection<OwnerSample> named = named(status);
      if (named.isEmpty() || status == Status.LIVE) {
        continue;
      }
      out.println();
      out.println(
          Shown.line(
              "%s, the first of %s:",
              heading(status), Shown.count(found(status).owners.size(), "owner")));
      for (OwnerSample of : List.copyOf(named).subList(0, Math.min(MOST_OWNERS, named.size()))) {
        out.println(
            "  %s: %s, such as %s%s"
                .formatted(
                    of.owner.isInbox() ? Shown.whose(of.owner) : Shown.text(of.owner.id()),
                    Shown.count(of.rows, "row"),
                    Shown.text(of.firstKey),
                    of.reason.isEmpty() ? "" : ":\n      " + Shown.text(of.reason)));
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
