package io.gameq.writer.console;

import io.gameq.mysql.tables.AuditTable;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.owner.DurableSessions.SessionId;
import io.gameq.terminal.Shown;
import io.gameq.writer.admin.RowColumn;
import io.gameq.writer.admin.StaleSessions;
import io.gameq.writer.admin.StaleSessions.ShownRow;
import io.gameq.writer.console.GuardedRoutes.Visitor;
import io.gameq.writer.mysql.Discards;
import io.gameq.writer.mysql.RowReading;
import io.gameq.writer.redis.StaleRows;
import io.gameq.writer.redis.StaleRows.Listed;
import io.javalin.http.ConflictResponse;
import io.javalin.http.Context;
import io.javalin.http.NotFoundResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Sessions with stale rows: a list, their rows, and how they are discarded. Thread-safe. */
final class StalePages {
  private static final int SESSIONS = 200;

  private static final int MOST_OWNER_CHARS = 255;
  private static final int MOST_SESSION_CHARS = 64;

  private final ConsoleServers servers;

  StalePages(ConsoleServers servers) {
    this.servers = servers;
  }

  /** One session; times are of commits. */
  record Session(
      String owner,
      String session,
      boolean ownsNow,
      long rows,
      long bytes,
      long newestMillis,
      boolean isAbout) {
    static Session of(Listed listed) {
      StaleRows.Session session = listed.session();
      return new Session(
          session.owner().id(),
          session.session().text(),
          session.ownsNow(),
          listed.rows(),
          listed.bytes(),
          Shown.time(listed.newestVersion()).toEpochMilli(),
          listed.isAbout());
    }
  }

  /** A page, see {@link StaleRows#page}. */
  record SessionList(List<Session> sessions, long count, String next) {}

  /** A row with its values, beside the one that MySQL holds. */
  record Row(
      String key,
      String version,
      String op,
      List<RowColumn> columns,
      @Nullable String undecodable) {
    static Row of(ShownRow row) {
      return new Row(
          row.key(),
          Long.toUnsignedString(row.version()),
          row.op(),
          row.columns(),
          row.undecodable());
    }
  }

  /** The first of them, and how many there are. */
  record RowList(List<Row> rows, long count) {}

  /** How many rows are gone. */
  record Removed(int rows) {}

  void addTo(GuardedRoutes routes) {
    routes.look("stale", this::list);
    routes.values("stale-values", this::values);
    routes.act("stale-discard", this::discard);
  }

  private SessionList list(Context context) {
    String after = Objects.requireNonNullElse(context.queryParam("after"), "");
    StaleRows.Page page = servers.list(() -> servers.stale().page(after, SESSIONS));
    return new SessionList(
        page.sessions().stream().map(Session::of).toList(), page.count(), page.next());
  }

  private RowList values(RequestBody body, Visitor visitor) {
    StaleRows stale = servers.stale();
    StaleRows.Session session = named(stale, body);
    audit(visitor, "stale show", session);
    List<Row> rows = new ArrayList<>();
    StaleSessions.rows(
        stale,
        new RowReading(servers.mysql()),
        session,
        true,
        page -> {
          page.forEach(row -> rows.add(Row.of(row)));
          return false; // the first page
        });
    return new RowList(rows, stale.count(session));
  }

  private Removed discard(RequestBody body, Visitor visitor) {
    StaleRows stale = servers.stale();
    StaleRows.Session session = named(stale, body);
    audit(visitor, "stale discard", session);
    StaleRows.Outcome outcome =
        StaleSessions.discard(stale, new Discards(servers.mysql()), session);
    if (outcome instanceof StaleRows.OwnsNow) {
      throw new ConflictResponse("kept: the session owns now, and its rows will be flushed");
    }
    return new Removed(
        outcome instanceof StaleRows.Discarded discarded ? discarded.rows().size() : 0);
  }

  private void audit(Visitor visitor, String action, StaleRows.Session session) {
    AuditTable.add(
        servers.mysql(),
        visitor.actor(),
        action,
        session.owner().id(),
        "session " + session.session().text());
  }

  private static StaleRows.Session named(StaleRows stale, RequestBody body) {
    OwnerId owner = OwnerId.of(body.text("owner", MOST_OWNER_CHARS));
    SessionId session = SessionId.parse(body.text("session", MOST_SESSION_CHARS));
    StaleRows.Session found = stale.find(owner, session);
    if (found == null) {
      throw new NotFoundResponse("there are no stale rows of it any more");
    }
    return found;
  }
}
