package io.gameq.writer.admin;

import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import io.gameq.GameQueueException;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.DiscardTable;
import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.owner.OwnerId;
import io.gameq.redis.script.ClaimScript.VersionedKey;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import io.gameq.rows.types.ColumnType;
import io.gameq.terminal.Shown;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.mysql.StoredRowDecoder;
import io.gameq.writer.mysql.StoredRowDecoder.DecodeError;
import io.gameq.writer.mysql.StoredRowDecoder.DecodeResult;
import io.gameq.writer.mysql.StoredRowDecoder.DecodedRow;
import io.gameq.writer.redis.StaleRows;
import io.gameq.writer.redis.StaleRows.DiscardResult;
import io.gameq.writer.redis.StaleRows.DiscardStatus;
import io.gameq.writer.redis.StaleRows.SessionSummary;
import io.gameq.writer.redis.StaleRows.StaleSession;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Sessions with stale rows, as an operator sees and discards them: each discard, and each look at
 * values, is in the audit log before. Used by one thread.
 */
public final class StaleSessions {
  /** Sessions as commands list them; ~ marks what is told by some of their rows. */
  public static final RecordView<SessionSummary> VIEW =
      new RecordView<SessionSummary>()
          .field("OWNER", "owner", of -> of.session().owner().id())
          .field("SESSION", "session", of -> of.session().session().text())
          .field("ROWS", "rows", SessionSummary::rows)
          .field("BYTES", "bytes", SessionSummary::bytes, of -> about(of) + of.bytes())
          .json("newestVersion", of -> Long.toUnsignedString(of.newestVersion()))
          .field(
              "NEWEST (UTC)",
              "newest",
              of -> Shown.time(of.newestVersion()),
              of -> of.rows() == 0 ? "" : about(of) + Shown.utc(Shown.time(of.newestVersion())))
          .json("isAbout", SessionSummary::isAbout)
          .field(
              "STATE",
              "ownsNow",
              of -> of.session().ownsNow(),
              of -> of.session().ownsNow() ? "owns now" : "lost");

  /** Sessions that are discarded between two looks at the list. */
  private static final int MOST_AT_ONCE = 500;

  private final StaleRows stale;
  private final MySql mysql;
  private final Actor actor;

  /** With servers that others close. */
  public StaleSessions(CommandServers servers, Actor actor) {
    this.stale = new StaleRows(servers.redis(), servers.slots());
    this.mysql = servers.mysql();
    this.actor = actor;
  }

  private static String about(SessionSummary of) {
    return of.isAbout() ? "~" : "";
  }

  /**
   * A row, beside the one that MySQL holds.
   *
   * @param op put, delete or moved; empty when it cannot be decoded
   * @param undecodable why it cannot be decoded, or null
   */
  public record RowView(
      String key,
      @JsonSerialize(using = ToStringSerializer.class) long version,
      String op,
      List<RowColumn> columns,
      @Nullable String undecodable) {}

  /**
   * Hands over the rows of sessions page by page, as {@link StaleRows#rows} does, each page in the
   * order in which they were committed.
   *
   * @param sessions at least one, of one owner
   * @param withValues whether to show their values; that is in the audit log then
   * @param detail for the audit log
   * @param page told the session and some of its rows; false ends those of the session
   * @throws GameQueueException when Redis or MySQL is away
   */
  public void show(
      List<StaleSession> sessions,
      boolean withValues,
      String detail,
      BiPredicate<StaleSession, List<RowView>> page) {
    OwnerId owner = sessions.get(0).owner();
    if (withValues) {
      AuditTable.add(mysql, actor, "stale show", owner.id(), detail);
    }
    StoredRowDecoder reading = new StoredRowDecoder(mysql);
    for (StaleSession session : sessions) {
      stale.rows(
          session,
          rows ->
              page.test(
                  session,
                  rows.stream()
                      .sorted(Comparator.comparing(row -> WalRow.version(row.image())))
                      .map(row -> shown(row, owner, reading, withValues))
                      .toList()));
    }
  }

  private static RowView shown(
      EncodedRow row, OwnerId owner, StoredRowDecoder rows, boolean withValues) {
    long version = WalRow.version(row.image());
    DecodeResult reading = rows.read(row.key(), row.image());
    if (reading instanceof DecodedRow decoded) {
      return new RowView(
          row.key(),
          version,
          Shown.lower(decoded.image().op()),
          RowColumn.of(decoded.image(), rows.present(owner, decoded.key()).row(), withValues),
          null);
    }
    String why =
        Shown.line(
            "its %,d bytes cannot be decoded: %s",
            row.image().length, ((DecodeError) reading).reason());
    return new RowView(row.key(), version, "", List.of(), why);
  }

  /** Discards the rows of sessions that an operator named; tells what became of each. */
  public void discard(
      List<StaleSession> sessions,
      String target,
      String detail,
      BiConsumer<StaleSession, DiscardResult> told) {
    AuditTable.add(mysql, actor, "stale discard", target, detail);
    sessions.forEach(of -> told.accept(of, discard(stale, mysql, of)));
  }

  /** The same of all sessions that there are. */
  public void discardAll(BiConsumer<StaleSession, DiscardResult> told) {
    StaleRows.SessionPage page = stale.page("", MOST_AT_ONCE);
    AuditTable.add(mysql, actor, "stale discard", "all", Shown.count(page.count(), "session"));
    while (page != null) {
      page.sessions().forEach(of -> told.accept(of.session(), discard(stale, mysql, of.session())));
      page = page.next().isEmpty() ? null : stale.page(page.next(), MOST_AT_ONCE);
    }
  }

  /**
   * Removes the rows of a session from Redis for good, unless it owns after all, once MySQL
   * remembers that: else a replay of its WAL would put them back. Stopped between the two it is to
   * be run again.
   *
   * @throws GameQueueException when Redis or MySQL is away
   */
  public static DiscardResult discard(StaleRows stale, MySql mysql, StaleSession session) {
    List<VersionedKey> rows = new ArrayList<>();
    if (!stale.ownsNow(session)) {
      stale.rows(
          session,
          page -> {
            page.stream()
                .filter(row -> WalRow.version(row.image()) != 0) // else damaged: no WAL has it
                .forEach(row -> rows.add(new VersionedKey(row.key(), row.version())));
            return true;
          });
    }
    List<Discard> seen = discards(session, rows);
    DiscardTable.write(mysql, seen);
    DiscardResult result = stale.discard(session);
    if (result.status() == DiscardStatus.REMOVED) {
      // With what was committed meanwhile.
      DiscardTable.write(mysql, discards(session, result.rows()));
    } else if (result.status() == DiscardStatus.OWNER) {
      DiscardTable.remove(mysql, seen);
    }
    return result;
  }

  /** Of this session only: the one that owns may have changed the same rows in older versions. */
  private static List<Discard> discards(StaleSession session, List<VersionedKey> rows) {
    return rows.stream()
        .filter(row -> row.key().indexOf(':') > 0) // else damaged, and no row's key
        .map(
            row ->
                new Discard(
                    session.owner(),
                    RowKey.tableName(row.key()),
                    row.key().substring(row.key().indexOf(':') + 1),
                    session.session().text(),
                    row.version()))
        .toList();
  }

  /**
   * One column of a row that was kept aside, beside what MySQL has; values are null where they are
   * hidden. Immutable.
   *
   * @param named whether the row sets it; else a put keeps what MySQL has
   * @param differs whether the row sets it to something else than MySQL has
   * @param editable whether an edit may change it
   * @param refused the row's value on one line, NULL included; null too when it is not named
   * @param edit the same as an edit takes it; null for NULL, too
   * @param present what MySQL has, on one line; null too when it has no such row
   */
  public record RowColumn(
      String name,
      boolean named,
      boolean differs,
      boolean editable,
      @Nullable String refused,
      @Nullable String edit,
      @Nullable String present) {

    /** What a row sets, by column: of a delete its key, and none that it leaves as they are. */
    public static Map<String, @Nullable Object> set(RowImage image) {
      boolean isDelete = image.op() == RowOp.DELETE;
      List<Column> columns = isDelete ? image.table().keyColumns() : image.table().columns();
      Map<String, @Nullable Object> set = new LinkedHashMap<>();
      for (int i = 0; i < columns.size(); i++) {
        if (isDelete || image.names(i)) {
          set.put(columns.get(i).name(), image.values()[i]);
        }
      }
      return set;
    }

    /**
     * The columns of a row that was kept aside: all of them, of a delete of an absent row the
     * key's.
     *
     * @param present null when MySQL has no such row
     */
    public static List<RowColumn> of(
        RowImage image, @Nullable RowImage present, boolean withValues) {
      boolean isDelete = image.op() == RowOp.DELETE;
      Table table = image.table();
      Map<String, @Nullable Object> set = set(image);
      List<RowColumn> columns = new ArrayList<>();
      for (Column column : isDelete && present == null ? table.keyColumns() : table.columns()) {
        boolean named = set.containsKey(column.name());
        Object refused = set.get(column.name());
        boolean isThere = present != null && present.table().has(column.name());
        Object there =
            isThere
                ? Objects.requireNonNull(present).values()[present.table().indexOf(column.name())]
                : null;
        boolean values = withValues && named;
        columns.add(
            new RowColumn(
                column.name(),
                named,
                named && isThere && !Objects.deepEquals(refused, there),
                image.op() == RowOp.PUT && !table.namesRowOrOwner(table.indexOf(column.name())),
                values ? Shown.value(refused) : null,
                values && refused != null ? ColumnType.text(refused) : null,
                withValues && isThere ? Shown.value(there) : null));
      }
      return columns;
    }
  }
}
