package io.gameq.writer.console;

import io.gameq.mysql.tables.AuditTable;
import io.gameq.owner.OwnerId;
import io.gameq.redis.script.StaleRows;
import io.gameq.terminal.Shown;
import io.gameq.writer.console.access.GuardedRoutes;
import io.gameq.writer.console.access.RequestBody;
import io.gameq.writer.console.access.Visitor;
import io.gameq.writer.letters.LetterDetail.ColumnDetail;
import io.gameq.writer.mysql.Discards;
import io.gameq.writer.mysql.RowReading;
import io.gameq.writer.stale.StaleSessions;
import io.gameq.writer.stale.StaleSessions.Listed;
import io.gameq.writer.stale.StaleSessions.ShownRow;
import io.javalin.http.ConflictResponse;
import io.javalin.http.Context;
import io.javalin.http.NotFoundResponse;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Sessions with stale rows: a list, their rows, and how they are discarded. Thread-safe. */
final class StalePages {
  /** The rows of each are counted, which takes Redis a round trip or more. */
  private static final int MOST_SESSIONS = 200;

  private static final int MOST_ROWS = 1_000;

  private static final int MOST_OWNER_CHARS = 255;
  private static final int MOST_SESSION_CHARS = 64;

  private final ConsoleServers servers;

  StalePages(ConsoleServers servers) {
    this.servers = servers;
  }

  /** One session; times are of commits. */
  record Session(
      String owner, String session, boolean ownsNow, int rows, long bytes, long newestMillis) {
    static Session of(Listed listed) {
      StaleRows.Session session = listed.session();
      return new Session(
          session.owner().id(),
          session.session().text(),
          session.ownsNow(),
          listed.rows(),
          listed.bytes(),
          Shown.time(listed.newestVersion()).toEpochMilli());
    }
  }

  /** The first of them, and how many there are. */
  record SessionList(List<Session> sessions, int count) {}

  /** A row with its values, beside the one that MySQL holds. */
  record Row(
      String key,
      String version,
      String op,
      List<ColumnDetail> columns,
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
  record RowList(List<Row> rows, int count) {}

  /** How many rows are gone. */
  record Removed(int rows) {}

  void addTo(GuardedRoutes routes) {
    routes.look("stale", this::list);
    routes.values("stale-values", this::values);
    routes.act("stale-discard", this::discard);
  }

  private SessionList list(Context context) {
    StaleRows stale = servers.stale();
    List<StaleRows.Session> sessions = stale.sessions();
    List<StaleRows.Session> some = sessions.subList(0, Math.min(MOST_SESSIONS, sessions.size()));
    return new SessionList(
        StaleSessions.list(stale, some).stream().map(Session::of).toList(), sessions.size());
  }

  private RowList values(RequestBody body, Visitor visitor) {
    StaleRows stale = servers.stale();
    StaleRows.Session session = named(stale, body);
    audit(visitor, "stale show", session);
    List<ShownRow> rows = StaleSessions.rows(stale, new RowReading(servers.mysql()), session, true);
    return new RowList(rows.stream().limit(MOST_ROWS).map(Row::of).toList(), rows.size());
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
    String session = body.text("session", MOST_SESSION_CHARS);
    return stale.sessions(OwnerId.of(body.text("owner", MOST_OWNER_CHARS))).stream()
        .filter(of -> of.session().text().equals(session))
        .findFirst()
        .orElseThrow(() -> new NotFoundResponse("there are no stale rows of it any more"));
  }
}
