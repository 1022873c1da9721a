package io.gameq.writer.cli;

import io.gameq.agent.RateLimit;
import io.gameq.owner.OwnerId;
import io.gameq.redis.script.ClaimScript.VersionedKey;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.admin.StaleSessions;
import io.gameq.writer.admin.StaleSessions.RowColumn;
import io.gameq.writer.admin.StaleSessions.RowView;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.redis.StaleRows;
import io.gameq.writer.redis.StaleRows.DiscardResult;
import io.gameq.writer.redis.StaleRows.DiscardStatus;
import io.gameq.writer.redis.StaleRows.SessionSummary;
import io.gameq.writer.redis.StaleRows.StaleSession;
import io.gameq.writer.terminal.Confirmation;
import io.gameq.writer.terminal.RateOption;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code stale}: what is seen of stale rows, and how they are discarded. */
@Command(
    name = "stale",
    description =
        "Shows and discards stale rows: committed by a session after it had lost its owner to"
            + " another one. They lie in Redis and are never flushed.")
public final class StaleCommand extends AdminCommand {
  private static final int MOST_AT_ONCE = 500;

  /** {@code player:42, session 0000000000000001-aaaaaaaa00000001} */
  private static String name(StaleSession session) {
    return Shown.text(session.owner().id()) + ", session " + session.session().text();
  }

  /** Returns 1 when rows of a session are lost, or not all sessions were listed. */
  @Command(
      name = "list",
      description = "Lists sessions with stale rows, slot by slot; reads Redis only.",
      footer = {
        "",
        "States: lost (the rows are never flushed), owns now (Redis has the session as the owner's"
            + " again, after a failover: the rows will be flushed). Of a session with many rows, ~"
            + " marks what is told by some of them."
      })
  int list(
      @Mixin RateOption rate,
      @Option(
              names = "--limit",
              paramLabel = "N",
              defaultValue = "1000",
              description =
                  "Most sessions to list, and perhaps some more (default: ${DEFAULT-VALUE}).")
          int limit,
      @Option(
              names = "--after",
              paramLabel = "PLACE",
              defaultValue = "",
              description = "To go on where the last list ended, as it said.")
          String after,
      @Option(
              names = "--json",
              description = "One JSON object a line, nothing else; times in UTC, versions as text.")
          boolean json) {
    if (limit < 1) {
      throw wrong("--limit is a number from 1 on");
    }
    Consumer<List<SessionSummary>> to = StaleSessions.VIEW.printer(out(), json);
    long listed = 0;
    long rows = 0;
    boolean isAnyLost = false;
    StaleRows.SessionPage page;
    CommandServers servers = servers();
    StaleRows stale = new StaleRows(servers.redis(), servers.slots());
    RateLimit pace = rate.limit();
    String next = after;
    do {
      page = stale.page(next, (int) pace.burst(Math.min(MOST_AT_ONCE, limit - listed)));
      pace.take(page.sessions().size());
      to.accept(page.sessions());
      listed += page.sessions().size();
      rows += page.sessions().stream().mapToLong(SessionSummary::rows).sum();
      isAnyLost |= page.sessions().stream().anyMatch(of -> !of.session().ownsNow());
      next = page.next();
    } while (!next.isEmpty() && listed < limit);

    if (!json) {
      out().println(Shown.count(listed, "session") + " with " + Shown.count(rows, "stale row"));
    }
    if (!page.next().isEmpty()) {
      (json ? err() : out())
          .println(
              Shown.line(
                  "there are %,d sessions: --limit lists more, --after %s the next ones",
                  page.count(), page.next()));
    }
    return isAnyLost || !page.next().isEmpty() ? ExitCodes.FOUND_SOMETHING : ExitCodes.OK;
  }

  /** Returns 1 when the owner has none. */
  @Command(
      name = "show",
      description =
          "Shows the stale rows of an owner, so that a player can be compensated by hand.",
      footer = {"", "A star marks the columns in which MySQL has something else."})
  int show(
      @Parameters(paramLabel = "OWNER", description = "As the game writes it: player:42.")
          String owner,
      @Option(
              names = "--values",
              description =
                  "Show the values of the rows, not only which differ; that is in the audit log.")
          boolean withValues) {
    OwnerId of = OwnerId.of(owner);
    CommandServers servers = servers();
    StaleRows stale = new StaleRows(servers.redis(), servers.slots());
    List<StaleSession> sessions = stale.sessions(of);
    if (sessions.isEmpty()) {
      err().println(Shown.text(of.id()) + " has no stale rows");
      return ExitCodes.FOUND_SOMETHING;
    }
    Set<StaleSession> begun = new HashSet<>();
    new StaleSessions(servers, actor())
        .show(
            sessions,
            withValues,
            "with values",
            (session, rows) -> {
              if (begun.add(session)) {
                String count = Shown.count(stale.count(session), "row");
                out().println(name(session) + ": " + count);
              }
              rows.forEach(this::print);
              return true;
            });
    if (!withValues) {
      out().println("values are hidden: --values shows them");
    }
    return ExitCodes.OK;
  }

  private void print(RowView row) {
    String version = Shown.version(row.version());
    String undecodable = row.undecodable();
    String op = undecodable == null ? row.op() + ", " : "";
    out().println("  %s: %sversion %s".formatted(Shown.text(row.key()), op, version));
    if (undecodable != null) {
      out().println("    " + Shown.text(undecodable));
    }
    row.columns().stream().filter(RowColumn::named).forEach(of -> out().println(line(of)));
  }

  private static String line(RowColumn column) {
    String name = "  " + (column.differs() ? "* " : "  ") + Shown.text(column.name());
    return column.refused() == null ? name : name + " = " + column.refused();
  }

  /** Returns 1 when an owner has none, or a session owns now and so its rows were kept. */
  @Command(
      name = "discard",
      description = "Removes stale rows from Redis for good.",
      footer = {
        "",
        "Prints each row it removes. Rows of a session that owns now are kept. 'stale show' tells"
            + " what is in them."
      })
  int discard(
      @Mixin Confirmation confirmation,
      @Parameters(
              arity = "0..*",
              paramLabel = "OWNER",
              description = "Owners, as the game writes them: player:42; or give --all.")
          @Nullable List<String> owners,
      @Option(names = "--all", description = "The stale rows of all owners.") boolean all) {
    Set<String> names = owners == null ? Set.of() : new LinkedHashSet<>(owners);
    if (names.isEmpty() != all) {
      throw wrong("give owners, or --all");
    }
    CommandServers servers = servers();
    StaleRows stale = new StaleRows(servers.redis(), servers.slots());
    List<StaleSession> named = new ArrayList<>();
    List<String> without = new ArrayList<>();
    for (String owner : names) {
      List<StaleSession> found = stale.sessions(OwnerId.of(owner));
      named.addAll(found);
      if (found.isEmpty()) {
        without.add(Shown.text(OwnerId.of(owner).id()));
      }
    }
    if (!without.isEmpty()) {
      err().println("no stale rows of %s: nothing was done".formatted(String.join(", ", without)));
      return ExitCodes.FOUND_SOMETHING;
    }
    long count = all ? stale.page("", 1).count() : named.size();
    Map<DiscardStatus, Long> rows = new EnumMap<>(DiscardStatus.class);
    if (count > 0) {
      String sessions = Shown.count(count, "session");
      confirmation.require("Discard the stale rows of %s for good?".formatted(sessions));
      BiConsumer<StaleSession, DiscardResult> told =
          (of, result) -> rows.merge(result.status(), print(of, result), Long::sum);
      StaleSessions service = new StaleSessions(servers, actor());
      if (all) {
        service.discardAll(told);
      } else {
        service.discard(named, String.join(", ", names), sessions, told);
      }
    }
    long discarded = rows.getOrDefault(DiscardStatus.REMOVED, 0L);
    out().println(Shown.count(discarded, "stale row") + " discarded");
    return rows.containsKey(DiscardStatus.OWNER) ? ExitCodes.FOUND_SOMETHING : ExitCodes.OK;
  }

  /** Returns how many rows are gone. */
  private long print(StaleSession session, DiscardResult result) {
    if (result.status() != DiscardStatus.REMOVED) {
      boolean owns = result.status() == DiscardStatus.OWNER;
      out().println((owns ? "kept, it owns now: " : "already gone: ") + name(session));
      return 0;
    }
    for (VersionedKey row : result.rows()) {
      String key = Shown.text(row.key());
      String version = Long.toUnsignedString(row.version());
      out().println("discarded %s of %s, version %s".formatted(key, name(session), version));
    }
    return result.rows().size();
  }
}
