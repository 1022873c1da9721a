package io.gameq.writer.trace;

import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.mysql.MySqlOwner;
import io.gameq.writer.mysql.MySqlOwner.OwnerRecord;
import io.gameq.writer.mysql.PauseTable.WriterPause;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.redis.RedisOwner;
import io.gameq.writer.redis.RedisOwner.ClaimRecord;
import io.gameq.writer.redis.RedisOwner.SessionRows;
import io.gameq.writer.redis.RedisOwner.TracedRows;
import io.gameq.writer.trace.NextStep.OwnerTrace;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Shows an {@link OwnerTrace}, line by line. Used by one thread. */
public final class OwnerPage {
  private final List<List<String>> lines = new ArrayList<>();

  private OwnerPage() {}

  static void print(OwnerTrace trace, List<WalSearch.WalSummary> inWals, PrintWriter out) {
    out.println(Shown.text(trace.owner().id()) + ", slot " + trace.slot());
    TextTable.withoutHeadings(out, 2).print(lines(trace, inWals));
    out.println("next: " + NextStep.of(trace).sentence());
  }

  /** What is known, line by line: a name, or nothing where the one above goes on, and a text. */
  public static List<List<String>> lines(OwnerTrace trace, List<WalSearch.WalSummary> inWals) {
    OwnerPage page = new OwnerPage();
    if (trace.mysql() == null) {
      page.line("MySQL", trace.mysqlError());
    } else {
      page.mysql(trace.mysql(), trace.aliveNode());
    }
    if (trace.redis() == null) {
      page.line("Redis", trace.redisError());
    } else {
      page.redis(trace.redis());
    }
    trace.itsPauses().forEach(of -> page.line("paused", pause(of)));
    trace
        .itsParkedTables()
        .forEach((table, why) -> page.line("parked", Shown.line("table %s: %s", table, why)));
    inWals.forEach(of -> page.line("WAL", wal(of)));
    return page.lines;
  }

  private void line(String name, String text) {
    lines.add(List.of(name, text));
  }

  private void mysql(MySqlOwner mysql, @Nullable String aliveNode) {
    OwnerRecord raised = mysql.opened();
    if (raised == null) {
      line("MySQL", "no session: nobody has opened it");
    } else {
      CountingSessions sessions = raised.sessions();
      String session =
          Shown.line(
              "newest session %s, %s %s UTC on node %s",
              sessions.newest(),
              sessions.opening() ? "opening since" : "opened",
              raised.openedAt(),
              raised.node().isEmpty() ? "(not known)" : raised.node());
      line("MySQL", session);
      if (sessions.before() != null) {
        line("", "session %s counts until then".formatted(sessions.before()));
      }
      if (raised.adoptedVersion() != 0) {
        line("", "took over rows up to version " + Shown.version(raised.adoptedVersion()));
      }
    }
    line(
        "node",
        aliveNode == null
            ? "that of the newest session gives no sign of life"
            : Shown.text(aliveNode) + " is alive");
    String most = mysql.tombstones() >= MySqlOwner.MOST_COUNTED ? " or more" : "";
    String discards = Shown.count(mysql.discards(), "discard");
    line("", Shown.count(mysql.tombstones(), "tombstone") + most + ", " + discards);
    line("dead", Shown.count(mysql.deadLetters(), "dead letter"));
    for (Stored stored : mysql.letters()) {
      Refused of = stored.refused();
      String letter =
          Shown.line(
              "%s %s:%s, version %s, error %s, %s, refused %s UTC",
              stored.id(),
              of.table(),
              of.rowKey(),
              Shown.version(of.version()),
              of.errorCode(),
              Shown.count(of.attempts(), "attempt"),
              stored.refusedAt());
      line("", letter);
    }
  }

  private void redis(RedisOwner redis) {
    String expires = Shown.duration(Math.max(0, redis.expiresMillis()));
    line(
        "Redis",
        redis.ownedBy() == null
            ? "knows no session"
            : "session "
                + redis.ownedBy()
                + (redis.expiresMillis() < 0 ? "" : ", closed (forgotten in " + expires + ")")
                + (redis.closing() ? ", closed while rows wait" : "")
                + (redis.healing() ? ", its node has rows to put back" : ""));
    for (SessionRows of : redis.sessions()) {
      if (of.dirty() != null || of.isAwaited()) {
        String rows = of.dirty() == null ? "no rows" : rows(of.dirty());
        String due = of.stale() ? "" : ", " + due(of, redis.nowMillis());
        line(of.stale() ? "stale" : "dirty", "session " + of.session() + ": " + rows + due);
      }
    }
    claim(redis);
    redis.inboxes().forEach(this::inbox);
    foreign(redis);
  }

  private void inbox(OwnerId inbox, RedisOwner redis) {
    String by = "by node process " + inbox.sender() + ":";
    for (SessionRows of : redis.sessions()) {
      if (of.dirty() != null) {
        line("sent", by + " " + rows(of.dirty()) + ", " + due(of, redis.nowMillis()));
      }
    }
    if (redis.claimed() != null) {
      line("sent", by);
    }
    claim(redis);
    foreign(redis);
  }

  private void foreign(RedisOwner redis) {
    redis.foreign().forEach(key -> line("foreign", Shown.text(key) + " is of another type"));
  }

  private void claim(RedisOwner redis) {
    if (redis.claimed() != null) {
      line("claimed", rows(redis.claimed()));
    }
    ClaimRecord claim = redis.claim();
    if (claim != null) {
      Instant refused = Instant.ofEpochMilli(claim.refusedSinceMillis());
      String text =
          Shown.line(
              "%s of %s by writer %s%s, %s, %s%s",
              claim.isHeld() ? "held" : "given back",
              claim.session().isInbox() ? "what was sent" : "session " + claim.session(),
              claim.writer(),
              claim.isHeld() ? ", " + lease(redis) : "",
              Shown.count(claim.attempts(), "attempt"),
              Shown.count(claim.lapses(), "lapse"),
              claim.refusedSinceMillis() == 0 ? "" : Shown.line(", refused since %s UTC", refused));
      line("claim", text);
    }
  }

  private static String lease(RedisOwner redis) {
    long left = redis.leaseEndsMillis() - redis.nowMillis();
    return redis.leaseEndsMillis() == RedisOwner.NONE
        ? "no lease"
        : left < 0
            ? "lease over since " + Shown.duration(-left)
            : "lease for " + Shown.duration(left);
  }

  /** {@code 3 rows (2 item, 1 player), 120 bytes, committed ...} */
  private static String rows(TracedRows of) {
    String tables =
        of.tables().entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(e -> Shown.line("%,d %s", e.getValue(), e.getKey()))
            .collect(Collectors.joining(", "));
    String oldest = Shown.utc(Shown.time(of.oldestVersion()));
    String newest = Shown.utc(Shown.time(of.newestVersion()));
    return Shown.line(
        "%s%s (%s), %,d bytes, committed %s UTC",
        of.isCut() ? "more than " : "",
        Shown.count(of.rows(), "row"),
        tables,
        of.bytes(),
        oldest.equals(newest) ? oldest : oldest + " to " + newest);
  }

  private static String due(SessionRows of, long nowMillis) {
    if (of.ready()) {
      return "claimed next";
    }
    if (of.dueMillis() == RedisOwner.NONE) {
      return "not due";
    }
    long millis = of.dueMillis() - nowMillis;
    return of.dueMillis() <= 0
        ? "due at once"
        : millis > 0 ? "due in " + Shown.duration(millis) : "due since " + Shown.duration(-millis);
  }

  private static String pause(WriterPause of) {
    String what = (Shown.lower(of.scope()) + " " + of.name()).strip();
    return Shown.line("%s %s", what, Pauses.why(of));
  }

  private static String wal(WalSearch.WalSummary of) {
    String complete = of.complete() ? " (complete)" : "";
    String changes = Shown.count(of.changes(), "change");
    String newest = Shown.version(of.newestVersion());
    return "%s%s: %s, the newest version %s".formatted(of.walId(), complete, changes, newest);
  }
}
