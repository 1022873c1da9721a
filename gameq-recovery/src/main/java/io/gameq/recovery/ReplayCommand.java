package io.gameq.recovery;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.RedisUnavailableException;
import io.gameq.agent.RateLimit;
import io.gameq.healing.Lookups;
import io.gameq.healing.MessageReplay;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.PlannedRow.Status;
import io.gameq.healing.Planner;
import io.gameq.healing.WalFolder;
import io.gameq.healing.WalReplay;
import io.gameq.healing.WalReplay.Count;
import io.gameq.healing.WalReplay.RedisTarget;
import io.gameq.healing.WalReplay.ReplayReport;
import io.gameq.healing.WalReplay.ReplayTarget;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.recovery.ServerOptions.RecoveryServers;
import io.gameq.recovery.mysql.ColumnRestore;
import io.gameq.recovery.redis.RecoveryRedis;
import io.gameq.redis.script.LookupScript.ReplayScript;
import io.gameq.rows.EncodedRow;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Question;
import io.gameq.terminal.Shown;
import java.io.PrintWriter;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code replay}: puts back what is lost. */
@Command(
    name = "replay",
    description =
        "Puts back what nodes that are gone committed and nobody holds any more. Without --execute"
            + " it only plans.",
    footer = {
      "",
      "May be stopped anywhere and run again, twice at once, and beside running nodes and writers:"
          + " an older version never replaces a newer one, and a deleted row does not come back.",
      "Exit code 0: nothing is left to act on; what was put back is in Redis, on its way to MySQL,"
          + " or in MySQL with --into mysql. It does not say that the WALs may go: 'verify' does.",
      "Exit code 1: rows are still lost, in conflict, refused or not readable, or a WAL is damaged."
    })
final class ReplayCommand extends WalCommand.PlannedCommand {
  private static final long DEFAULT_RATE = 20_000;

  /** Sessions that MySQL lost; more make one ask whether the WALs are of this environment. */
  private static final int MOST_RESTORED = 100;

  /** Where lost rows go. */
  enum Destination {
    REDIS,
    MYSQL
  }

  /** What becomes of rows that a later session did not see. */
  enum ConflictPolicy {
    SKIP,
    APPLY
  }

  @Option(names = "--execute", description = "Do it; else nothing is changed.")
  private boolean execute;

  @Option(
      names = "--into",
      paramLabel = "redis|mysql",
      description =
          "Where to: redis, from where writers flush (default), or straight into MySQL when Redis"
              + " is gone for good.")
  private Destination into = Destination.REDIS;

  @Option(
      names = "--conflicts",
      paramLabel = "skip|apply",
      description =
          "Rows that a later session did not see: skip (default), or apply: take the owner over,"
              + " unless a node that is alive has it open, and write them.")
  private ConflictPolicy conflicts = ConflictPolicy.SKIP;

  @Option(
      names = "--rate",
      paramLabel = "ROWS",
      description = "Most rows a second, 0 for no limit (default: ${DEFAULT-VALUE}).")
  private long rate = DEFAULT_RATE;

  @Option(
      names = "--include-live",
      description =
          "Also WALs of nodes that gave a sign of life lately: else they are left out, since nodes"
              + " heal themselves. Never a WAL that a process on this host writes.")
  private boolean includeLive;

  @Option(
      names = "--column",
      paramLabel = "TABLE.COLUMN",
      description =
          "Put back values of this column and nothing else, as after DROP COLUMN by mistake and"
              + " ADD COLUMN: into rows that MySQL holds in the version that the WAL has, with"
              + " another value, also one that an operator gave it. Several times for several.")
  private List<String> columns = List.of();

  @Option(
      names = "--yes",
      description =
          "Do not ask where the sessions of more than "
              + MOST_RESTORED
              + " owners are to be restored in MySQL; needed where there is no console to ask on.")
  private boolean yes;

  @Override
  public Integer call() {
    if (into == Destination.REDIS && !servers.hasRedis() && columns.isEmpty()) {
      throw new GameQueueException(
          "give --redis or --config, or --into mysql when Redis is gone for good");
    }
    if (rate < 0) {
      throw new GameQueueException("--rate is " + rate + ": give rows a second, or 0");
    }
    return super.call();
  }

  @Override
  int call(RecoveryServers open, ProgressLine progress) {
    if (!columns.isEmpty()) {
      return columns(open, progress);
    }
    Planner.Options wanted = new Planner.Options(owners(), includeLive, false, false);
    return execute ? execute(open, progress, wanted) : planOnly(open, progress, wanted);
  }

  private int columns(RecoveryServers open, ProgressLine progress) {
    ColumnRestore restore = open.database().columns(columns, new RateLimit(rate));
    String names = String.join(" ", columns);
    if (execute) {
      audit(open, "columns " + names);
    }
    Plan unused =
        plan(
            open,
            progress,
            new Planner.Options(owners(), true, true, true),
            row -> restore.add(row, execute));
    restore.finish();
    out()
        .println(
            "%s of %s differ from what the WALs have; %s"
                .formatted(
                    Shown.count(restore.found(), "value"),
                    names,
                    execute
                        ? Shown.count(restore.written(), "value") + " written"
                        : "nothing was changed: --execute does it"));
    return restore.found() == restore.written() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
  }

  private void audit(RecoveryServers open, String detail) {
    open.database()
        .audit(
            "replay",
            open.wals().folders().stream().map(WalFolder::id).collect(Collectors.joining(" ")),
            "%s, owners %s"
                .formatted(detail, owners().isEmpty() ? "all" : String.join(" ", owners())));
  }

  private int planOnly(RecoveryServers open, ProgressLine progress, Planner.Options wanted) {
    Plan plan = plan(open, progress, wanted, row -> {});
    plan.print(out(), true);
    out().println();
    out().println("Nothing was changed: --execute does it.");
    return plan.exitCode();
  }

  private int execute(RecoveryServers open, ProgressLine progress, Planner.Options wanted) {
    PrintWriter out = out();
    long begun = System.nanoTime();
    Lookups lookups = open.lookups();
    RateLimit limit = new RateLimit(rate);
    ReplayTarget target =
        into == Destination.MYSQL
            ? open.database().target(lookups.codec(open.wals()), limit)
            : new RedisTarget(Objects.requireNonNull(lookups.redis()), limit);
    audit(open, "into %s, conflicts %s".formatted(Shown.lower(into), Shown.lower(conflicts)));
    Plan before = new Plan(open, wanted, progress::step);
    WalReplay replay =
        new WalReplay(
            before.planner(),
            target,
            Set.of(),
            (rows, sessions) -> {
              if (rows > 0) {
                progress.rows("replaying", rows, before.rows(Status.LOST));
              }
              requireMeant(sessions);
            });
    ReplayReport report = replay.report();
    ConflictReport wanting = new ConflictReport(open, target, report);
    replay.run(
        row -> {
          before.add(row);
          if (conflicts == ConflictPolicy.APPLY && row.status().isConflict()) {
            wanting.add(row, before.planner());
          }
        });
    wanting.apply();
    target.finish(report);
    progress.end();
    requireFound(before);
    double seconds = (System.nanoTime() - begun) / 1e9;
    out.println(
        Shown.line(
            "Replayed %s into %s in %.1f s%s: %,d written, %,d were there already",
            Shown.count(report.count(Count.ROWS), "row"),
            into == Destination.MYSQL ? "MySQL" : "Redis",
            seconds,
            rate == 0 ? "" : " (at most " + Plan.number(rate) + " rows/s: --rate)",
            report.count(Count.WRITTEN),
            report.count(Count.ROWS) - report.count(Count.WRITTEN)));
    for (Count count : List.of(Count.RESTORED, Count.TAKEN_OVER, Count.SET_ASIDE, Count.REFUSED)) {
      if (report.count(count) > 0) {
        out.println("  " + count.text(report.count(count)));
      }
    }
    report.named().forEach(name -> out.println("    " + name));
    report.closedTables().forEach(table -> out.println("  " + table));
    if (open.redis() != null) {
      open.redis().requireSameTerm();
    }
    replayMessages(out, before.planner().gone(), lookups, report);
    Plan after = plan(open, progress, wanted, row -> {});
    out.println();
    out.println("Planned again, after it:");
    after.print(out, true);
    out.println();
    out.println(
        after.rows(Status.LOST) == 0
            ? "Nothing is lost any more. Keep the WALs until 'verify' finds everything in MySQL."
            : report.closedTables().isEmpty()
                ? "Some rows are still lost: run it again."
                : "Some rows are still lost: mend the tables named above, then run it again.");
    return after.exitCode();
  }

  /** Asks once: of a failover it is those who were opened within a second or two. */
  private void requireMeant(long restored) {
    if (restored > MOST_RESTORED && !yes) {
      Question.requireYes(
          ("MySQL does not know the sessions of %s owners or more: it is a backup that was"
               + " restored, or these are the WALs of another environment. Shall replay restore the"
               + " sessions, and write the newer rows of these WALs over those of MySQL?")
              .formatted(restored),
          "what was put back before stays, the rest is as it was",
          Question::ask);
      yes = true;
    }
  }

  /** Messages are of no owner, so that those of some cannot be asked for. */
  private void replayMessages(
      PrintWriter out, List<WalFolder> gone, Lookups lookups, ReplayReport report) {
    if (!owners().isEmpty()) {
      out.println("  messages were left alone: they are put back without --owner");
      return;
    }
    if (report.isOvertaken()) {
      out.println(
          "  messages were left alone: owners were opened meanwhile, whose rows are to be planned"
              + " again");
      return;
    }
    boolean areRowsBack = report.count(Count.REFUSED) == 0 && report.closedTables().isEmpty();
    long commits = 0;
    for (WalFolder wal : gone) {
      commits += MessageReplay.putBack(lookups, wal, areRowsBack);
    }
    if (commits > 0) {
      out.println(
          "  " + Shown.count(commits, "commit") + " whose messages were put back into Redis");
    }
  }

  /**
   * Applies rows that a later session did not see, by explicit wish: opens the owner as a node
   * would, writes the rows in their own versions, and closes it. One thread. Killed in between, the
   * owner is left open by nobody: the game opens it as ever.
   */
  private final class ConflictReport {
    /** What is kept in memory; the rest is left for the next run. */
    private static final long MOST_BYTES = 64 << 20;

    private static final String NODE = "gameq-recovery";

    private final OwnerTable sessions;
    private final @Nullable RecoveryRedis redis; // null when it is gone for good
    private final ReplayTarget target;
    private final ReplayReport report;
    private final SecureRandom random = new SecureRandom();
    private final String process = "%08x".formatted(random.nextInt());
    private final Map<OwnerId, List<EncodedRow>> rows = new LinkedHashMap<>();
    private long bytes;

    ConflictReport(RecoveryServers open, ReplayTarget target, ReplayReport report) {
      this.sessions = open.database().rows().owners();
      this.redis = open.redis();
      this.target = target;
      this.report = report;
    }

    /** Keeps a row for {@link #apply}, unless the planner knows that its WAL is written still. */
    void add(PlannedRow row, Planner planner) {
      EncodedRow encoded = row.change().encoded();
      if (planner.isBeingWritten(row.change().wal())) {
        report.refused(
            row.owner(),
            1,
            "a process still writes its WAL and may mark it as failed: end it first");
      } else if (bytes < MOST_BYTES) {
        rows.computeIfAbsent(row.owner(), owner -> new ArrayList<>()).add(encoded);
        bytes += encoded.image().length + encoded.key().length();
      }
    }

    /** Writes what was kept; throws GameQueueException when a server does not answer. */
    void apply() {
      rows.forEach(
          (owner, its) -> {
            try {
              apply(owner, its);
            } catch (RedisUnavailableException | MySqlException e) {
              throw e;
            } catch (GameQueueException e) {
              report.refused(owner, its.size(), String.valueOf(e.getMessage()));
            }
          });
    }

    private void apply(OwnerId owner, List<EncodedRow> its) {
      if (owner.isInbox()) { // which nobody takes over
        write(owner, SessionId.ofInbox(owner.sender()), false, its);
        return;
      }
      CountingSessions durable = sessions.current(List.of(owner)).get(owner);
      String holder = redis == null || durable == null ? null : redis.liveHolder(owner, durable);
      if (holder != null) {
        report.refused(
            owner, its.size(), "node " + holder + " is alive and has it open: close it there");
        return;
      }
      SessionId inRedis = redis == null ? null : redis.redis().ownedBy(owner);
      String nonce = process + "%08x".formatted(random.nextInt());
      SessionId session =
          sessions.raise(owner, nonce, NODE, inRedis == null ? 0 : inRedis.epoch() + 1);
      if (redis != null && into == Destination.REDIS) {
        redis.open(owner, session);
      }
      write(owner, session, true, its);
      sessions.markOpen(owner, session);
      report.add(Count.TAKEN_OVER, 1);
    }

    private void write(OwnerId owner, SessionId session, boolean ends, List<EncodedRow> its) {
      target.write(List.of(List.of(new ReplayScript.Owner(owner, session, ends, its))), report);
    }
  }
}
