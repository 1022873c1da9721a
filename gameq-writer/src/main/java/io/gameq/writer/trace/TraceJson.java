package io.gameq.writer.trace;

import io.gameq.redis.script.OwnerInRedis;
import io.gameq.redis.script.OwnerInRedis.ClaimRecord;
import io.gameq.redis.script.OwnerInRedis.InSession;
import io.gameq.redis.script.OwnerInRedis.TracedRows;
import io.gameq.writer.mysql.OwnerInMySql;
import io.gameq.writer.mysql.OwnerInMySql.Raised;
import io.gameq.writer.terminal.JsonLine;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Traces as JSON: times in UTC or ms, versions as text. Stateless. */
final class TraceJson {
  private TraceJson() {}

  static String of(OwnerTrace trace, List<WalSearch.InWal> inWals) {
    Map<String, Object> all = owner(trace);
    if (!inWals.isEmpty()) {
      all.put("wals", inWals.stream().map(TraceJson::wal).toList());
    }
    return JsonLine.of(all);
  }

  static String of(RowTrace trace, boolean values) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("row", trace.rowKey());
    all.put("managed", trace.isManaged());
    all.put("places", trace.places().stream().map(of -> place(of, values)).toList());
    all.put("owners", trace.owners().stream().map(TraceJson::owner).toList());
    next(all, trace.next());
    return JsonLine.of(all);
  }

  private static void next(Map<String, Object> all, WhatNext next) {
    all.put("state", next.kind().name().toLowerCase(Locale.ROOT));
    all.put("next", next.sentence());
  }

  private static Map<String, Object> place(RowPlace of, boolean values) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("where", of.where().name().toLowerCase(Locale.ROOT));
    all.put("owner", of.owner().id());
    all.put(of.where() == RowPlace.Where.DEAD_LETTER ? "letter" : "session", of.session());
    all.put("version", Long.toUnsignedString(of.version()));
    if (of.op() != null) {
      all.put("op", of.op().name().toLowerCase(Locale.ROOT));
    }
    all.put("note", of.note());
    if (values) {
      all.put("columns", of.columns());
    }
    return all;
  }

  private static Map<String, Object> owner(OwnerTrace trace) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("owner", trace.owner().id());
    all.put("slot", trace.slot());
    OwnerInMySql mysql = trace.mysql();
    if (mysql == null) {
      all.put("mysqlError", trace.mysqlError());
    } else {
      all.put("mysql", mysql(mysql));
    }
    all.put("aliveNode", trace.aliveNode());
    OwnerInRedis redis = trace.redis();
    if (redis == null) {
      all.put("redisError", trace.redisError());
    } else {
      all.put("redis", redis(redis));
    }
    all.put(
        "pauses",
        trace.pauses().stream()
            .map(
                of ->
                    Map.of(
                        "scope", of.scope().name().toLowerCase(Locale.ROOT),
                        "name", of.name(),
                        "reason", of.reason(),
                        "by", of.by(),
                        "at", of.at().toString()))
            .toList());
    next(all, WhatNext.of(trace));
    return all;
  }

  private static Map<String, Object> mysql(OwnerInMySql of) {
    Map<String, Object> all = new LinkedHashMap<>();
    Raised raised = of.opened();
    if (raised != null) {
      all.put("session", raised.sessions().newest().text());
      all.put("opening", raised.sessions().opening());
      all.put("sessionBefore", text(raised.sessions().before()));
      all.put("node", raised.node());
      all.put("openedAt", raised.openedAt().toString());
      all.put("adoptedVersion", Long.toUnsignedString(raised.adoptedVersion()));
    }
    all.put("deadLetters", of.deadLetters());
    all.put("tombstones", of.tombstones());
    all.put("discards", of.discards());
    return all;
  }

  private static Map<String, Object> redis(OwnerInRedis of) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("session", text(of.ownedBy()));
    all.put("closed", of.closing() || of.expiresMillis() >= 0);
    all.put("healing", of.healing());
    ClaimRecord claim = of.claim();
    if (claim != null) {
      all.put("claimHeld", claim.isHeld());
      all.put("writer", claim.writer());
      all.put("attempts", claim.attempts());
      all.put("lapses", claim.lapses());
      all.put("refusedSince", JsonLine.moment(claim.refusedSinceMillis()));
    }
    if (of.leaseEndsMillis() != OwnerInRedis.NONE) {
      all.put("leaseLeftMillis", of.leaseEndsMillis() - of.nowMillis());
    }
    all.put("claimed", rows(of.claimed()));
    all.put("sessions", of.sessions().stream().map(s -> session(s, of.nowMillis())).toList());
    all.put("foreignKeys", of.foreign());
    if (!of.inboxes().isEmpty()) {
      Map<String, Object> sent = new LinkedHashMap<>();
      of.inboxes().forEach((inbox, its) -> sent.put(inbox.sender(), redis(its)));
      all.put("sentByProcess", sent);
    }
    return all;
  }

  private static Map<String, Object> session(InSession of, long nowMillis) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("session", of.session().text());
    all.put("dirty", rows(of.dirty()));
    all.put("ready", of.ready());
    all.put("stale", of.stale());
    if (of.dueMillis() != OwnerInRedis.NONE) {
      all.put("dueInMillis", of.dueMillis() - nowMillis);
    }
    return all;
  }

  private static @Nullable Map<String, Object> rows(@Nullable TracedRows of) {
    return of == null
        ? null
        : Map.of(
            "rows", of.rows(),
            "bytes", of.bytes(),
            "oldestVersion", Long.toUnsignedString(of.oldestVersion()),
            "newestVersion", Long.toUnsignedString(of.newestVersion()),
            "tables", of.tables());
  }

  private static Map<String, Object> wal(WalSearch.InWal of) {
    return Map.of(
        "wal", of.walId(),
        "complete", of.complete(),
        "changes", of.changes(),
        "newestVersion", Long.toUnsignedString(of.newestVersion()));
  }

  private static @Nullable String text(@Nullable Object of) {
    return of == null ? null : Objects.toString(of);
  }
}
