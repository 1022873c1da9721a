package io.gameq.lab.demo.generated;

import io.gameq.OwnerSession;
import io.gameq.Row;
import io.gameq.lab.demo.game.DemoActor;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.Table;
import io.gameq.rows.TableRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An owner with rows that mean nothing. One thread at a time. */
final class GeneratedPlayer implements DemoActor {
  private static final int MOST_ROWS_OF_TABLE = 30;

  /** Of a hundred actions, these act on the root's row: what a game saves most often. */
  private static final int ROOT = 30;

  private static final int INSERT = 30;
  private static final int DELETE = 12;
  private static final int FIRST_ROWS = 6;
  private static final int MOST_OF_ACTION = 3;

  private final GeneratedGame game;
  private final OwnerFamily family;
  private final Object id;
  private final Random random;

  /** By table, the rows by key. */
  private final Map<RowGenerator, Map<RowKey, @Nullable Object[]>> rows = new HashMap<>();

  GeneratedPlayer(GeneratedGame game, OwnerFamily family, Object id, Random random) {
    this.game = game;
    this.family = family;
    this.id = id;
    this.random = random;
  }

  @Override
  public String owner() {
    return family.any().table().ownerOfValue(id).id();
  }

  @Override
  public List<Row> rows() {
    List<Row> all = new ArrayList<>();
    rows.forEach(
        (of, ofTable) ->
            ofTable.values().forEach(values -> all.add(new TableRow(of.table(), values))));
    return all;
  }

  private Map<RowKey, @Nullable Object[]> rows(RowGenerator of) {
    return rows.computeIfAbsent(of, key -> new LinkedHashMap<>());
  }

  @Override
  public int create(OwnerSession session) {
    Set<RowKey> changed = new HashSet<>();
    RowGenerator root = family.root();
    if (root != null) {
      changed.add(put(session, root, root.row(id, random)));
    }
    for (int i = 0; i < FIRST_ROWS; i++) {
      RowGenerator of = family.anyChild(random);
      changed.add(put(session, of, of.row(id, random)));
    }
    return changed.size();
  }

  @Override
  public int act(OwnerSession session) {
    Set<RowKey> changed = new HashSet<>();
    RowGenerator root = family.root();
    if (root != null && random.nextInt(100) < ROOT) {
      for (@Nullable Object[] row : List.copyOf(rows(root).values())) {
        changed.add(put(session, root, root.changed(row, random)));
      }
    }
    int more = 1 + random.nextInt(MOST_OF_ACTION);
    for (int i = 0; i < more; i++) {
      changed.add(actOn(session, family.anyChild(random)));
    }
    return changed.size();
  }

  private RowKey actOn(OwnerSession session, RowGenerator of) {
    Map<RowKey, @Nullable Object[]> mine = rows(of);
    int dice = random.nextInt(100);
    if (mine.isEmpty() || (dice < INSERT && mine.size() < MOST_ROWS_OF_TABLE)) {
      return put(session, of, of.row(id, random));
    }
    RowKey key = anyKey(mine);
    if (dice < INSERT + DELETE && !game.isReferredTo(of)) {
      mine.remove(key);
      session.delete(of.table().name(), key.parts());
      return key;
    }
    @Nullable Object[] row = mine.get(key);
    return put(session, of, row == null ? of.row(id, random) : of.changed(row, random));
  }

  private RowKey put(OwnerSession session, RowGenerator of, @Nullable Object[] row) {
    RowKey key = RowKey.of(of.table(), row);
    rows(of).put(key, row);
    session.put(of.table().name(), named(of.table(), row));
    return key;
  }

  /** Moves a row that keeps its key; else a row leaves here and appears there under its own key. */
  @Override
  public int trade(OwnerSession mine, DemoActor other, OwnerSession theirs) {
    GeneratedPlayer buyer = (GeneratedPlayer) other;
    if (!buyer.family.equals(family)) {
      return 0; // its rows are in other tables
    }
    RowGenerator of = family.anyChild(random);
    Map<RowKey, @Nullable Object[]> from = rows(of);
    if (from.isEmpty() || game.isReferredTo(of) || of.oneForOwner()) {
      return 0;
    }
    RowKey key = anyKey(from);
    @Nullable Object[] row = from.get(key);
    if (row == null) {
      return 0;
    }
    @Nullable Object[] moved = of.ownedBy(row, buyer.id);
    from.remove(key);
    if (of.moves()) {
      buyer.rows(of).put(key, moved);
      mine.move(of.table().name(), named(of.table(), moved), theirs);
    } else {
      mine.delete(of.table().name(), key.parts());
      buyer.put(theirs, of, moved);
    }
    return 2;
  }

  private RowKey anyKey(Map<RowKey, @Nullable Object[]> of) {
    return List.copyOf(of.keySet()).get(random.nextInt(of.size()));
  }

  private static Map<String, @Nullable Object> named(Table table, @Nullable Object[] row) {
    Map<String, @Nullable Object> named = new LinkedHashMap<>();
    for (int i = 0; i < row.length; i++) {
      named.put(table.columns().get(i).name(), row[i]);
    }
    return named;
  }
}
