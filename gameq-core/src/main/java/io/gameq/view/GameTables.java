package io.gameq.view;

import io.gameq.Row;
import io.gameq.change.CarriedColumns;
import io.gameq.rows.AlteredRow;
import io.gameq.rows.CurrentCatalog;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.RecordMapper;
import io.gameq.rows.RecordMapper.RecordMappers;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.rows.TableRow;
import java.time.Clock;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The managed tables as the game of this node knows them: with the columns that they had when the
 * node started, each of the type that it has now. Thread-safe.
 *
 * <p>A column added since is not the game's: its values stay as they are. A column dropped since
 * may still be put: where it was announced its value goes, else the row keeps it and waits. Its
 * value goes as well where the table was altered in other ways, too.
 */
public final class GameTables {
  private static final long MISSING_EVERY_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Catalog atStart;
  private final CurrentCatalog current;
  private final Clock clock;
  private volatile Known known;

  /** The game's tables by one state of the catalogue. */
  private record Known(Catalog now, Catalog games, RecordMappers mappers) {
    static Known of(Catalog now, Catalog games) {
      return new Known(now, games, new RecordMappers(games));
    }
  }

  public GameTables(Catalog atStart, CurrentCatalog current, Clock clock) {
    this.atStart = atStart;
    this.current = current;
    this.clock = clock;
    this.known = Known.of(atStart, atStart);
  }

  private Known known() {
    Known of = known;
    Catalog now = current.get();
    if (of.now != now) {
      of = Known.of(now, AlteredRow.inColumnsOf(atStart, now));
      known = of;
    }
    return of;
  }

  /** The tables as they are, by what was read of them last. */
  CurrentCatalog current() {
    return current;
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
  void lookForMissing() {
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

  public <T extends Record> RecordMapper<T> mapper(Class<T> type) {
    return known().mappers.of(type);
  }

  /** The table as it is, by what was read of it last. */
  public Table now(Table games) {
    Catalog now = current.get();
    return now.manages(games.name()) ? now.table(games.name()) : games;
  }

  /**
   * What a put or move of the game's makes of a row.
   *
   * @param carried what is on its way of the row already; null for nothing
   * @throws io.gameq.RowRefusedException when the row does not fit the table as it is now
   */
  public RowImage image(
      Table games, RowOp op, @Nullable Object[] values, CarriedColumns.@Nullable Carried carried) {
    Table now = now(games);
    if (keepsWhatIsGone(games, now)) {
      return AlteredRow.asTheGameHasIt(games, op, values, carried != null && carried.isAnew());
    }
    return AlteredRow.stored(
        games,
        now,
        op,
        values,
        carried == null ? Map.of() : carried.values(),
        carried != null && carried.isAnew());
  }

  /** Whether rows are written in the column list of the start, which is known to writers. */
  private boolean keepsWhatIsGone(Table games, Table now) {
    return games.fingerprint() != now.fingerprint()
        && games.fingerprint() == atStart.table(games.name()).fingerprint()
        && AlteredRow.keepsWhatIsGone(games, now);
  }

  /** The table in whose columns this node's own rows are. */
  public Table written(Table games) {
    Table now = now(games);
    return keepsWhatIsGone(games, now) ? games : now;
  }

  /** What the next put of a row takes along of an image that is not in MySQL; null for nothing. */
  public CarriedColumns.@Nullable Carried carried(RowImage image) {
    Catalog games = games();
    String name = image.table().name();
    if (!games.manages(name)) {
      return null;
    }
    return image.op() == RowOp.DELETE
        ? CarriedColumns.Carried.of(RowOp.DELETE, Map.of(), false)
        : CarriedColumns.Carried.of(
            image.op(), AlteredRow.unknown(image, games.table(name)), image.isAnew());
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
}
