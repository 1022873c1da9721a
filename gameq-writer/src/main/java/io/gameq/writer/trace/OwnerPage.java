package io.gameq.writer.trace;

import io.gameq.owner.OwnerId;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.mysql.OwnerInMySql;
import io.gameq.writer.mysql.OwnerInMySql.Letter;
import io.gameq.writer.mysql.OwnerInMySql.Raised;
import io.gameq.writer.mysql.PauseTable.Pause;
import io.gameq.writer.redis.OwnerInRedis;
import io.gameq.writer.redis.OwnerInRedis.ClaimRecord;
import io.gameq.writer.redis.OwnerInRedis.InSession;
import io.gameq.writer.redis.OwnerInRedis.TracedRows;
import io.gameq.writer.trace.WhatNext.OwnerTrace;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Shows an {@link OwnerTrace}. Stateless. */
public final class OwnerPage {
  private OwnerPage() {}

  static void print(OwnerTrace trace, List<WalSearch.InWal> inWals, PrintWriter out) {
    out.println(Shown.text(trace.owner().id()) + ", slot " + trace.slot());
    TextTable.withoutHeadings(out, 2).print(lines(trace, inWals));
    out.println("next: " + WhatNext.of(trace).sentence());
  }

  /** What is known, line by line: a name, or nothing where the one above goes on, and a text. */
  public static List<List<String>> lines(OwnerTrace trace, List<WalSearch.InWal> inWals) {
    List<List<String>> lines = new ArrayList<>();
    OwnerInMySql mysql = trace.mysql();
    if (mysql == null) {
      lines.add(List.of("MySQL", trace.mysqlError()));
    } else {
      mysql(mysql, trace, lines);
    }
    OwnerInRedis redis = trace.redis();
    if (redis == null) {
      lines.add(List.of("Redis", trace.redisError()));
    } else {
      redis(redis, lines);
    }
    trace.itsPauses().forEach(of -> lines.add(List.of("paused", pause(of))));
    trace
        .itsParkedTables()
        .forEach(
            (table, why) ->
                lines.add(
                    List.of(
                        "parked", "table %s: %s".formatted(Shown.text(table), Shown.text(why)))));
    inWals.forEach(of -> lines.add(List.of("WAL", wal(of))));
    return lines;
  }

  private static void mysql(OwnerInMySql mysql, OwnerTrace trace, List<List<String>> lines) {
    Raised raised = mysql.opened();
    if (raised == null) {
      lines.add(List.of("MySQL", "no session: nobody has opened it"));
    } else {
      lines.add(
          List.of(
              "MySQL",
              "session %s, %s since %s UTC on node %s"
                  .formatted(
                      raised.sessions().newest(),
                      raised.sessions().opening() ? "opening" : "open",
                      Shown.utc(raised.openedAt()),
                      raised.node().isEmpty() ? "(not known)" : Shown.text(raised.node()))));
      if (raised.sessions().before() != null) {
        lines.add(
            List.of("", "session %s counts until then".formatted(raised.sessions().before())));
      }
      if (raised.adoptedVersion() != 0) {
        lines.add(
            List.of("", "took over rows up to version " + Shown.version(raised.adoptedVersion())));
      }
    }
    String alive = trace.aliveNode();
    lines.add(
        List.of(
            "node",
            alive == null
                ? "no sign of life from the node of the session that holds it"
                : Shown.text(alive) + " is alive"));
    String most = mysql.tombstones() >= OwnerInMySql.MOST_COUNTED ? " or more" : "";
    lines.add(
        List.of(
            "",
            "%s%s, %s"
                .formatted(
                    Shown.count(mysql.tombstones(), "tombstone"),
                    most,
                    Shown.count(mysql.discards(), "discard"))));
    lines.add(List.of("dead", Shown.count(mysql.deadLetters(), "dead letter")));
    mysql.letters().forEach(of -> lines.add(List.of("", letter(of))));
  }

  private static String letter(Letter of) {
    return "%s %s, version %s, error %s, %s, refused %s UTC"
        .formatted(
            of.id(),
            Shown.text(of.table() + ":" + of.rowKey()),
            Shown.version(of.version()),
            of.errorCode(),
            Shown.count(of.attempts(), "attempt"),
            Shown.utc(of.refusedAt()));
  }

  private static void redis(OwnerInRedis redis, List<List<String>> lines) {
    lines.add(
        List.of(
            "Redis",
            redis.ownedBy() == null
                ? "knows no session"
                : "session %s%s%s%s"
                    .formatted(
                        redis.ownedBy(),
                        redis.expiresMillis() >= 0
                            ? ", closed (forgotten in %s)"
                                .formatted(Shown.duration(redis.expiresMillis()))
                            : "",
                        redis.closing() ? ", closed while rows wait" : "",
                        redis.healing() ? ", its node has rows to put back" : "")));
    for (InSession of : redis.sessions()) {
      TracedRows dirty = of.dirty();
      if (dirty != null || of.isAwaited()) {
        lines.add(
            List.of(
                of.stale() ? "stale" : "dirty",
                "session %s: %s%s"
                    .formatted(
                        of.session(),
                        dirty == null ? "no rows" : rows(dirty),
                        of.stale() ? "" : ", " + due(of, redis.nowMillis()))));
      }
    }
    claim(redis, lines);
    redis.inboxes().forEach((inbox, of) -> inbox(inbox, of, lines));
    redis
        .foreign()
        .forEach(key -> lines.add(List.of("foreign", Shown.text(key) + " is of another type")));
  }

  private static void inbox(OwnerId inbox, OwnerInRedis redis, List<List<String>> lines) {
    for (InSession of : redis.sessions()) {
      TracedRows dirty = of.dirty();
      if (dirty != null) {
        lines.add(
            List.of(
                "sent",
                "by node process %s: %s, %s"
                    .formatted(inbox.sender(), rows(dirty), due(of, redis.nowMillis()))));
      }
    }
    if (redis.claimed() != null) {
      lines.add(List.of("sent", "by node process %s:".formatted(inbox.sender())));
    }
    claim(redis, lines);
    redis
        .foreign()
        .forEach(key -> lines.add(List.of("foreign", Shown.text(key) + " is of another type")));
  }

  private static void claim(OwnerInRedis redis, List<List<String>> lines) {
    ClaimRecord claim = redis.claim();
    TracedRows claimed = redis.claimed();
    if (claimed != null) {
      lines.add(List.of("claimed", rows(claimed)));
    }
    if (claim != null) {
      String lease =
          redis.leaseEndsMillis() == OwnerInRedis.NONE
              ? "no lease"
              : redis.leaseEndsMillis() < redis.nowMillis()
                  ? "lease over since "
                      + Shown.duration(redis.nowMillis() - redis.leaseEndsMillis())
                  : "lease for " + Shown.duration(redis.leaseEndsMillis() - redis.nowMillis());
      lines.add(
          List.of(
              "claim",
              "%s of %s by writer %s%s, %s, %s%s"
                  .formatted(
                      claim.isHeld() ? "held" : "given back",
                      claim.session().isInbox() ? "what was sent" : "session " + claim.session(),
                      Shown.text(claim.writer()),
                      claim.isHeld() ? ", " + lease : "",
                      Shown.count(claim.attempts(), "attempt"),
                      Shown.count(claim.lapses(), "lapse"),
                      claim.refusedSinceMillis() == 0
                          ? ""
                          : ", refused since %s UTC"
                              .formatted(
                                  Shown.utc(Instant.ofEpochMilli(claim.refusedSinceMillis()))))));
    }
  }

  /** {@code 3 rows (2 item, 1 player), 120 bytes, committed ...} */
  private static String rows(TracedRows of) {
    String tables =
        of.tables().entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(e -> String.format(Locale.ROOT, "%,d %s", e.getValue(), Shown.text(e.getKey())))
            .collect(Collectors.joining(", "));
    String oldest = Shown.utc(Shown.time(of.oldestVersion()));
    String newest = Shown.utc(Shown.time(of.newestVersion()));
    return String.format(
        Locale.ROOT,
        "%s%s (%s), %,d bytes, committed %s UTC",
        of.isCut() ? "more than " : "",
        Shown.count(of.rows(), "row"),
        tables,
        of.bytes(),
        oldest.equals(newest) ? oldest : oldest + " to " + newest);
  }

  private static String due(InSession of, long nowMillis) {
    if (of.ready()) {
      return "claimed next";
    }
    if (of.dueMillis() == OwnerInRedis.NONE) {
      return "not due";
    }
    long millis = of.dueMillis() - nowMillis;
    return of.dueMillis() <= 0
        ? "due at once"
        : millis > 0 ? "due in " + Shown.duration(millis) : "due since " + Shown.duration(-millis);
  }

  private static String pause(Pause of) {
    return "%s by %s since %s UTC: %s"
        .formatted(
            (of.scope().name().toLowerCase(Locale.ROOT) + " " + Shown.text(of.name())).strip(),
            Shown.text(of.by()),
            Shown.utc(of.at()),
            Shown.text(of.reason()));
  }

  private static String wal(WalSearch.InWal of) {
    return "%s%s: %s, the newest version %s"
        .formatted(
            of.walId(),
            of.complete() ? " (complete)" : "",
            Shown.count(of.changes(), "change"),
            Shown.version(of.newestVersion()));
  }
}
