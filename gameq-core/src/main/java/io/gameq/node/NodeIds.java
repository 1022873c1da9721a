package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.Ids;
import io.gameq.LayoutException;
import io.gameq.mysql.tables.IdTable;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.script.WaitingOwners;
import io.gameq.rows.Column;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.RowKey;
import io.gameq.rows.RowOp;
import io.gameq.rows.Table;
import io.gameq.rows.types.ColumnDefault;
import io.gameq.rows.types.ColumnType;
import java.math.BigInteger;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The ids of a node, one {@link Ids} for each table. Thread-safe. */
final class NodeIds {
  private static final int MOST = 1_000_000;

  private final IdTable table;
  private final GameNode node;
  private final ConcurrentHashMap<String, IdRanges> byTable = new ConcurrentHashMap<>();

  NodeIds(GameNode node) {
    this.node = node;
    this.table = new IdTable(node.servers.mysql());
  }

  /** As {@link io.gameq.GameQueue#ids(String, int)}. */
  Ids of(Table of, int range) {
    if (range < 1 || range > MOST) {
      throw new GameQueueException(
          String.format(
              Locale.ROOT, "a range of %d ids of %s: use 1 to %,d", range, of.name(), MOST));
    }
    IdRanges ids =
        byTable.computeIfAbsent(
            of.name(), name -> new IdRanges(taking(of, range), range, node.calls));
    ids.prepare();
    return ids;
  }

  private LongSupplier taking(Table of, int range) {
    Column column = column(of);
    return () -> {
      long first = table.take(of.name(), column.name(), range, () -> highestWaiting(of, column));
      var unused = column.canonical(Math.addExact(first, range - 1)); // throws when it is full
      return first;
    };
  }

  /**
   * The highest number in rows that wait in Redis, of all nodes, or that were set aside; 0 for
   * none. MySQL may never have had them. Asked once in the life of a table; costs a look at every
   * row that waits.
   */
  private long highestWaiting(Table of, Column column) {
    BigInteger highest = BigInteger.ZERO;
    ControlConnection control = node.servers.control();
    for (SlotKeys slot : node.servers.slots()) {
      List<String> members = List.copyOf(control.ask(redis -> WaitingOwners.of(redis, slot)));
      for (List<String> some : LuaScript.pieces(members, WaitingOwners.MOST_AT_ONCE)) {
        highest =
            highest.max(
                highest(
                    control.ask(redis -> WaitingOwners.rows(redis, slot, of.name(), some)),
                    of,
                    column));
      }
    }
    // After Redis: whatever a flush has set aside meanwhile is there by now.
    return highest.max(highest(table.refused(of.name()), of, column)).longValueExact();
  }

  private BigInteger highest(List<EncodedRow> rows, Table of, Column column) {
    return rows.stream()
        .map(row -> number(row, of, column))
        .reduce(BigInteger.ZERO, BigInteger::max);
  }

  private BigInteger number(EncodedRow row, Table of, Column column) {
    try {
      Object value = value(row, of, column);
      return value == null
          ? BigInteger.ZERO
          : new BigInteger(column.type().keyText(value, column.label()));
    } catch (LayoutException e) { // it is whole, and can be written once the table is mended
      throw e;
    } catch (RuntimeException e) { // damaged: it has no number, and never reaches the table
      return BigInteger.ZERO;
    }
  }

  private @Nullable Object value(EncodedRow row, Table of, Column column) {
    int inKey = of.keyColumns().indexOf(column);
    if (inKey >= 0) {
      return new RowKey(of, row.key()).parts()[inKey];
    }
    return row.op() == RowOp.DELETE // it has the key alone
        ? null
        : node.rows.codec().decodeForGame(of, row.image()).values()[of.indexOf(column.name())];
  }

  /** The column that MySQL would number, else the only integer of the key that is not the owner. */
  private static Column column(Table of) {
    List<Column> numbered =
        of.columns().stream()
            .filter(column -> column.onAbsence() instanceof ColumnDefault.Numbered)
            .toList();
    List<Column> all =
        numbered.isEmpty()
            ? of.keyColumns().stream()
                .filter(column -> isInteger(column) && !column.equals(of.ownerColumn()))
                .toList()
            : numbered;
    if (all.size() != 1) {
      throw new GameQueueException(
          ("table %s has %s: ids are for a column with AUTO_INCREMENT, or for the only integer"
                  + " of the primary key beside the owner's column")
              .formatted(
                  of.name(), all.isEmpty() ? "no column for ids" : "several columns for ids"));
    }
    return all.get(0);
  }

  private static boolean isInteger(Column column) {
    ColumnType.Kind kind = column.type().kind();
    return kind == ColumnType.Kind.INTEGER || kind == ColumnType.Kind.UNSIGNED_LONG;
  }

  /**
   * The ids of one table, out of ranges that are taken in MySQL: the next one while half of this
   * one is left. Thread-safe; nobody waits with the lock, and all who find none left wait for the
   * same range, each for its own time.
   */
  private static final class IdRanges implements Ids {
    private static final String TAKE = "take ids";

    private final LongSupplier taking;
    private final int range;
    private final NodeCalls calls;
    private long next;
    private long left;
    private @Nullable CompletableFuture<Long> coming;

    /**
     * Has none at first.
     *
     * @param taking takes the next range in MySQL and returns its first id
     * @param range how many ids it has
     */
    IdRanges(LongSupplier taking, int range, NodeCalls calls) {
      this.taking = taking;
      this.range = range;
      this.calls = calls;
    }

    /** Takes the first range, if none was taken. */
    void prepare() {
      long unused = await(false);
    }

    @Override
    public long next() {
      return await(true);
    }

    /**
     * The first id that is left; waits for a range when none is.
     *
     * @param takes whether the id is given away
     */
    private long await(boolean takes) {
      long deadline = calls.deadline();
      CompletableFuture<Long> earlier;
      synchronized (this) {
        earlier = coming;
      }
      while (true) {
        CompletableFuture<Long> awaited;
        synchronized (this) {
          if (hasLeft()) {
            return takes ? give() : next;
          }
          awaited = coming();
        }
        try {
          long unused = calls.await(TAKE, deadline, awaited);
        } catch (GameQueueException e) {
          if (awaited != earlier) {
            throw e;
          }
          earlier = null; // it was begun before this call, maybe long ago: MySQL may be back
        }
      }
    }

    /** Goes on to the range that came, if none is left of the one before. */
    private boolean hasLeft() {
      CompletableFuture<Long> ready = coming;
      if (left == 0 && ready != null && ready.isDone()) {
        coming = null;
        if (!ready.isCompletedExceptionally()) {
          next = ready.join();
          left = range;
        }
      }
      return left > 0;
    }

    private long give() {
      left--;
      if (left <= range / 2) {
        CompletableFuture<Long> unused = coming();
      }
      return next++;
    }

    private CompletableFuture<Long> coming() {
      CompletableFuture<Long> ready = coming;
      if (ready == null) {
        ready = calls.shareOfMySql(TAKE, isAwaited -> taking.getAsLong());
        coming = ready;
      }
      return ready;
    }
  }
}
