package io.gameq.writer.console;

import io.gameq.mysql.tables.AuditTable;
import io.gameq.owner.OwnerId;
import io.gameq.redis.ControlConnection;
import io.gameq.terminal.Shown;
import io.gameq.writer.console.GuardedRoutes.Visitor;
import io.gameq.writer.console.HeldPages.HeldState;
import io.gameq.writer.mysql.ColumnSearch;
import io.gameq.writer.mysql.ColumnSearch.TextColumn;
import io.gameq.writer.mysql.OwnerSearch;
import io.gameq.writer.mysql.OwnerSearch.Found;
import io.gameq.writer.trace.OwnerPage;
import io.gameq.writer.trace.RowTrace;
import io.gameq.writer.trace.RowTrace.RowPlace;
import io.gameq.writer.trace.Tracer;
import io.gameq.writer.trace.WhatNext;
import io.gameq.writer.trace.WhatNext.OwnerTrace;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.Context;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Finds owners, and shows where an owner or a row is and what happens next. Thread-safe. */
final class OwnerPages {
  private static final int MOST_OWNERS = 50;
  private static final int MOST_CHARS = 1_000;

  private final ConsoleServers servers;
  private final Supplier<Map<String, String>> parked;

  OwnerPages(ConsoleServers servers, Supplier<Map<String, String>> parked) {
    this.servers = servers;
    this.parked = parked;
  }

  /** An owner that was opened at some time. */
  record OpenedOwner(String owner, String node, long openedMillis) {
    static OpenedOwner of(Found found) {
      return new OpenedOwner(found.owner().id(), found.node(), found.openedAt().toEpochMilli());
    }
  }

  /** The first of them; {@code more} when there are others. */
  record OwnerList(List<OpenedOwner> owners, boolean more) {}

  /** By which columns rows are found. */
  record Columns(List<TextColumn> columns) {}

  /** Owners of rows that have a text; {@code more} when there may be others. */
  record Having(List<String> owners, boolean more) {}

  void addTo(GuardedRoutes routes) {
    routes.look("owners", this::search);
    routes.look("columns", context -> new Columns(new ColumnSearch(servers.mysql()).columns()));
    routes.values("owners-having", this::having);
    routes.look("trace", context -> Owner.of(tracer().owner(OwnerId.of(param(context, "owner")))));
    routes.look(
        "trace-row",
        context ->
            Row.of(row(param(context, "table"), param(context, "key"), owner(context)), false));
    routes.values("trace-row-values", this::values);
  }

  /** Whoever finds a text has seen it: it is in the audit log, without the text. */
  private Having having(RequestBody body, Visitor visitor) {
    String table = body.text("table", MOST_CHARS);
    String column = body.text("column", MOST_CHARS);
    String text = body.text("text", MOST_CHARS);
    boolean isBeginning = body.has("beginning");
    AuditTable.add(
        servers.mysql(),
        visitor.actor(),
        "search values",
        "%s.%s".formatted(table, column),
        isBeginning ? "beginning" : "whole");
    return servers.list(
        () -> {
          ColumnSearch.Owners found =
              new ColumnSearch(servers.mysql())
                  .owners(table, column, text, isBeginning, MOST_OWNERS);
          return new Having(
              found.owners().stream().map(OwnerId::id).sorted(OwnerSearch.BY_NUMBERS).toList(),
              !found.isAll());
        });
  }

  private OwnerList search(Context context) {
    String beginning = Objects.requireNonNullElse(context.queryParam("q"), "").strip();
    List<OpenedOwner> owners =
        OwnerSearch.beginningWith(servers.mysql(), beginning, MOST_OWNERS + 1).stream()
            .map(OpenedOwner::of)
            .toList();
    return new OwnerList(
        owners.subList(0, Math.min(MOST_OWNERS, owners.size())), owners.size() > MOST_OWNERS);
  }

  /** What will happen next; {@code isToAct} when somebody has to do something. */
  record Next(boolean isToAct, String sentence) {
    static Next of(WhatNext next) {
      return new Next(next.kind().isToAct(), next.sentence());
    }
  }

  /** An owner; each line is a name, empty where the one above goes on, and a text. */
  record Owner(String owner, int slot, List<List<String>> lines, List<HeldState> held, Next next) {
    static Owner of(OwnerTrace trace) {
      return new Owner(
          trace.owner().id(),
          trace.slot(),
          OwnerPage.lines(trace, List.of()),
          HeldState.of(trace),
          Next.of(WhatNext.of(trace)));
    }
  }

  /** A version of the row in one place; {@code columns} are null while values are hidden. */
  record Place(
      String where,
      String owner,
      String version,
      long committedMillis,
      String op,
      String session,
      String note,
      @Nullable Map<String, String> columns) {
    static Place of(RowPlace place, boolean withValues) {
      return new Place(
          place.where().name().toLowerCase(Locale.ROOT).replace('_', ' '),
          place.owner().id(),
          Long.toUnsignedString(place.version()),
          place.version() == 0 ? 0 : Shown.time(place.version()).toEpochMilli(),
          place.opName(),
          place.session(),
          place.note(),
          withValues && place.image() != null ? place.columns() : null);
    }
  }

  /** A row, and the owners that have, had or wanted it. */
  record Row(
      String row,
      boolean isManaged,
      List<Place> places,
      List<Owner> owners,
      Next next,
      boolean hasValues) {
    static Row of(RowTrace trace, boolean withValues) {
      return new Row(
          trace.rowKey(),
          trace.isManaged(),
          trace.places().stream().map(place -> Place.of(place, withValues)).toList(),
          trace.owners().stream().map(Owner::of).toList(),
          Next.of(trace.next()),
          withValues);
    }
  }

  private Row values(RequestBody body, Visitor visitor) {
    String table = body.text("table", MOST_CHARS);
    String key = body.text("key", MOST_CHARS);
    AuditTable.add(
        servers.mysql(), visitor.actor(), "show values", Tracer.rowKey(table, key), "trace");
    return Row.of(row(table, key, body.optionalText("owner", MOST_CHARS)), true);
  }

  private RowTrace row(String table, String key, @Nullable String owner) {
    List<OwnerId> owners = owner == null ? List.of() : List.of(OwnerId.of(owner));
    return tracer().row(table, key, owners, List.of());
  }

  private Tracer tracer() {
    ControlConnection redis = servers.redis();
    return new Tracer(servers.namespace(), servers.slots(), redis, servers::mysql, parked);
  }

  private static String param(Context context, String name) {
    String value = context.queryParam(name);
    if (value == null || value.isBlank()) {
      throw new BadRequestResponse("'%s' is missing".formatted(name));
    }
    return value.strip();
  }

  private static @Nullable String owner(Context context) {
    String owner = context.queryParam("owner");
    return owner == null || owner.isBlank() ? null : owner.strip();
  }
}
