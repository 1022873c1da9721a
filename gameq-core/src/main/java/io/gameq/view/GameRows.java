package io.gameq.view;

import io.gameq.Row;
import io.gameq.RowRefusedException;
import io.gameq.change.CarriedColumns.Carried;
import io.gameq.change.ChangedRow;
import io.gameq.owner.OwnerId;
import io.gameq.rows.AlteredRow;
import io.gameq.rows.CanonicalRow;
import io.gameq.rows.CanonicalRow.PartialRow;
import io.gameq.rows.CurrentCatalog;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RecordMapper;
import io.gameq.rows.RecordMapper.RecordMappers;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.rows.TableRow;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Turns what the game gives, records or columns by name, into encoded rows, and rows back into what
 * the game takes. Knows the managed tables as the game of this node does: with the columns that
 * they had when the node started, each of the type that it has now. Thread-safe.
 *
 * <p>A column added since is not the game's: its values stay as they are. A column dropped since
 * may still be put: where it was announced its value goes, else the row keeps it and waits. Its
 * value goes as well where the table was altered in other ways, too.
 */
public final class GameRows {
  private static final long MISSING_EVERY_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Catalog atStart;

  /** The tables as they are, by what was read of them last. */
  final CurrentCatalog current;

  final RowCodec codec;
  private final Clock clock;
  private final int mostRowBytes;
  private volatile GameTables known;

  /** The game's tables by one state of the catalogue. */
  private record GameTables(Catalog now, Catalog games, RecordMappers mappers) {
    static GameTables of(Catalog now, Catalog games) {
      return new GameTables(now, games, new RecordMappers(games));
    }
  }

  /** A row on its way to an owner whom somebody else may have open, or nobody. */
  public record Sent(OwnerId to, ChangedRow row) {
    public RowRefusedException isTwice() {
      return new RowRefusedException(
          "row %s is sent twice in one commit: what is sent needs a new key".formatted(row.key()));
    }
  }

  /**
   * By the tables of the start.
   *
   * @param mostRowBytes of a row, encoded
   */
  public GameRows(
      Catalog atStart, CurrentCatalog current, RowCodec codec, Clock clock, int mostRowBytes) {
    this.atStart = atStart;
    this.current = current;
    this.codec = codec;
    this.clock = clock;
    this.mostRowBytes = mostRowBytes;
    this.known = GameTables.of(atStart, atStart);
  }

  // --- tables

  private GameTables known() {
    GameTables of = known;
    Catalog now = current.get();
    if (of.now != now) {
      of = GameTables.of(now, AlteredRow.inColumnsOf(atStart, now));
      known = of;
    }
    return of;
  }

  /** The tables that the game knows, though one may have gone. */
  public Catalog atStart() {
    return atStart;
  }

  /**
   * Looks every few seconds whether a table is back that had gone.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public void lookForMissingTables() {
    Catalog now = current.get();
    if (System.nanoTime() - current.lastReadNanos() > MISSING_EVERY_NANOS
        && !atStart.tables().stream().map(Table::name).allMatch(now::manages)) {
      current.readAfter(System.nanoTime());
    }
  }

  /** The tables as the game knows them. */
  public Catalog games() {
    return known().games;
  }

  public Table table(String name) {
    return games().table(name);
  }

  public static String tableOf(EncodedRow row) {
    return RowKey.tableName(row.key());
  }

  /** The table as it is, by what was read of it last. */
  private Table now(Table games) {
    Catalog now = current.get();
    return now.manages(games.name()) ? now.table(games.name()) : games;
  }

  /** Whether rows are written in the column list of the start, which is known to writers. */
  private boolean keepsWhatIsGone(Table games, Table now) {
    return games.fingerprint() != now.fingerprint()
        && games.fingerprint() == atStart.table(games.name()).fingerprint()
        && AlteredRow.keepsWhatIsGone(games, now);
  }

  // --- what the game gives; all throw RowRefusedException when it does not fit its table

  public <T extends Record> RecordMapper<T> mapper(Class<T> type) {
    return known().mappers.of(type);
  }

  @SuppressWarnings("unchecked") // the class of a T
  private <T extends Record> RecordMapper<T> mapper(T row) {
    requireGiven(row, "the row");
    return mapper((Class<T>) row.getClass());
  }

  public <T extends Record> TableRow given(T row) {
    return given(part(row), null);
  }

  /** The game's compiler may know nothing of null. */
  private static void requireGiven(@Nullable Object what, String name) {
    if (what == null) {
      throw new RowRefusedException(name + " is null: a row goes by delete, with its key");
    }
  }

  public TableRow given(String table, Map<String, ?> columns) {
    return given(part(table, columns), null);
  }

  /** The columns that a record has. */
  public <T extends Record> PartialRow part(T row) {
    return mapper(row).toPart(row);
  }

  public PartialRow part(String table, Map<String, ?> columns) {
    requireGiven(columns, "the map of columns of " + table);
    return CanonicalRow.partOf(table(table), columns);
  }

  /** The full row of an update; {@code before} is the row as it was, null when there was none. */
  public TableRow given(PartialRow part, @Nullable Row before) {
    return new TableRow(part.table(), part.over(before, clock));
  }

  /** A row to that owner, whose it must be. */
  public Sent sent(OwnerId to, TableRow given) {
    Table table = given.managed();
    if (!table.isOwnedBy(to, given.values())) {
      throw new RowRefusedException(
          "%s: the row belongs to %s by its column %s, and is sent to %s"
              .formatted(table.name(), given.owner(), table.ownerColumn().name(), to));
    }
    RowKey key = RowKey.of(table, given.values());
    return new Sent(to, encode(table, key, RowOp.PUT, given.values(), null));
  }

  /**
   * A put or move of a row, or its delete by its key alone.
   *
   * @param carried what is on its way of the row already; null for nothing
   */
  public ChangedRow encode(
      Table table, RowKey key, RowOp op, @Nullable Object[] values, @Nullable Carried carried) {
    byte[] image =
        op == RowOp.DELETE
            ? codec.encode(table, op, values)
            : codec.encode(image(table, op, values, carried));
    if (image.length > mostRowBytes) {
      throw new RowRefusedException(
          "%s: a row of %s bytes encoded, the limit is %s: raise maxRowBytes"
              .formatted(table.name(), image.length, mostRowBytes));
    }
    return new ChangedRow(key.text(), image);
  }

  private RowImage image(
      Table games, RowOp op, @Nullable Object[] values, @Nullable Carried carried) {
    Table now = now(games);
    boolean isAnew = carried != null && carried.isAnew();
    return keepsWhatIsGone(games, now)
        ? new RowImage(games, op, 0, values, null, isAnew, List.of())
        : AlteredRow.stored(
            games, now, op, values, carried == null ? Map.of() : carried.values(), isAnew);
  }

  // --- what the game takes

  /** A row of this node's own commits. Throws LayoutException when its table was altered since. */
  public RowImage decode(EncodedRow row) {
    Table games = table(tableOf(row));
    Table now = now(games);
    return codec.decodeForGame(keepsWhatIsGone(games, now) ? games : now, row.image());
  }

  /** A row of any node. Throws LayoutException when it does not fit the table as the game's. */
  public RowImage decode(EncodedRow row, Table games) {
    return codec.decodeForGame(games, row.image());
  }

  /** What the next put of a row takes along of an image that is not in MySQL; null for nothing. */
  public @Nullable Carried carried(RowImage image) {
    Catalog games = games();
    String name = image.table().name();
    if (!games.manages(name)) {
      return null;
    }
    return image.op() == RowOp.DELETE
        ? Carried.of(RowOp.DELETE, Map.of(), false)
        : Carried.of(image.op(), AlteredRow.unknown(image, games.table(name)), image.isAnew());
  }

  /** A row as the game knows it. */
  Row row(RowImage image) {
    Catalog games = games();
    String name = image.table().name();
    return games.manages(name)
        ? row(image, games.table(name))
        : new TableRow(image.table(), image.values());
  }

  /** The same, for a table of the game's. */
  public Row row(RowImage image, Table games) {
    return new TableRow(games, AlteredRow.known(image, games, clock));
  }

  /** What an owner has in one table. Throws GameQueueException when it had gone. */
  public List<Row> rows(OwnerView view, Table of) {
    return view.rows(of).stream().map(image -> row(image, of)).toList();
  }

  /** Rows of a record's table as records; {@code rows} has those of a table. */
  public <T extends Record> List<T> records(Class<T> type, Function<String, List<Row>> rows) {
    RecordMapper<T> mapper = mapper(type);
    return rows.apply(mapper.table().name()).stream().map(mapper::fromRow).toList();
  }
}
