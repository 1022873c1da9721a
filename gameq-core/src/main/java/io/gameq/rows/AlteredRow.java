package io.gameq.rows;

import io.gameq.RowRefusedException;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.Table.Column;
import java.time.Clock;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Leads rows between a table as a game knows it and the table as it is, where that was altered
 * meanwhile. Stateless.
 */
public final class AlteredRow {
  private AlteredRow() {}

  /**
   * The tables of one catalogue in the columns that they have in another, older one; tables that
   * came later are left out.
   */
  public static Catalog inColumnsOf(Catalog older, Catalog now) {
    List<Table> tables = new ArrayList<>();
    Map<String, String> unmanaged = new HashMap<>(older.unmanaged());
    for (Table table : older.tables()) {
      String name = table.name();
      if (!now.manages(name)) {
        unmanaged.put(name, now.unmanaged().getOrDefault(name, "it is not registered any more"));
      } else if (!now.table(name).hasSameKeys(table)) {
        unmanaged.put(name, "its key or owner column changed since this node started: restart it");
      } else {
        tables.add(now.table(name).inColumnsOf(table));
      }
    }
    return new Catalog(tables, unmanaged, older.foldsNames());
  }

  /**
   * Whether a table has lost columns that the game knows and nothing else, and nobody announced it:
   * then rows are written with them, and wait until that is cleared up.
   */
  public static boolean keepsWhatIsGone(Table game, Table now) {
    return now.columns().stream().allMatch(column -> game.has(column.name()))
        && game.columns().stream()
            .anyMatch(column -> !now.has(column.name()) && !now.isDropped(column.name()));
  }

  /**
   * The image of a row that a game puts.
   *
   * @param game the table as the game knows it, which the values are in the order of
   * @param carried by name, values of columns that the game does not know
   * @param anew see {@link RowImage#isAnew}
   * @throws RowRefusedException when a value does not fit the table as it is
   */
  public static RowImage stored(
      Table game,
      Table now,
      RowOp op,
      @Nullable Object[] values,
      Map<String, @Nullable Object> carried,
      boolean anew) {
    if (game.fingerprint() == now.fingerprint()) {
      return new RowImage(game, op, 0, values, null, anew, List.of());
    }
    BitSet named = new BitSet();
    @Nullable Object[] row = new @Nullable Object[now.columns().size()];
    for (int i = 0; i < row.length; i++) {
      Column column = now.columns().get(i);
      boolean known = game.has(column.name());
      if (known || carried.containsKey(column.name())) {
        row[i] =
            column.canonicalExactly(
                known ? values[game.indexOf(column.name())] : carried.get(column.name()));
        named.set(i);
      }
    }
    return new RowImage(now, op, 0, row, named, anew, List.of());
  }

  /** The values of a row in the columns of the table as a game knows it. */
  public static @Nullable Object[] known(RowImage image, Table game, Clock clock) {
    Table now = image.table();
    if (game.fingerprint() == now.fingerprint()) {
      return image.values();
    }
    @Nullable Object[] row = new @Nullable Object[game.columns().size()];
    for (int i = 0; i < row.length; i++) {
      String name = game.columns().get(i).name();
      row[i] = now.has(name) ? image.values()[now.indexOf(name)] : dropped(game, i, clock);
    }
    return row;
  }

  private static @Nullable Object dropped(Table game, int column, Clock clock) {
    try {
      return CanonicalRow.unnamed(game, column, clock);
    } catch (RowRefusedException e) { // a date, which has nothing that stands for none
      return null;
    }
  }

  /** What an image names of columns that the game does not know, by name. */
  public static Map<String, @Nullable Object> unknown(RowImage image, Table game) {
    Table now = image.table();
    if (game.fingerprint() == now.fingerprint()) {
      return Map.of();
    }
    Map<String, @Nullable Object> unknown = new HashMap<>();
    for (int i = 0; i < now.columns().size(); i++) {
      String name = now.columns().get(i).name();
      if (image.names(i) && !game.has(name)) {
        unknown.put(name, image.values()[i]);
      }
    }
    return unknown;
  }
}
