package io.gameq.writer.mysql;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.DeadLetterFilter;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.DeadLetterTable.Looked;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.mysql.tables.DiscardTable;
import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.terminal.Shown;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The dead letters of a database as the dead commands see them. Used by one thread; safe beside
 * running nodes, writers and other dead commands.
 */
public final class DeadLetters {
  /** An image has up to 2 MiB. */
  private static final int PAGE_ROWS = 32;

  /** More than any clock of a node may be wrong. */
  private static final Duration FAR_AHEAD = Duration.ofDays(1);

  private final MySql mysql;
  private @Nullable RowReading rows;

  /** What a dead letter is worth now. */
  public enum State {
    /** MySQL holds an older version of the row, or none. */
    WAITING,
    /** MySQL holds this version of the row or a newer one, or deleted it since. */
    SUPERSEDED,
    /** The table is not managed now, or the key is damaged. */
    UNKNOWN
  }

  /** Over connections that somebody else closes; two at least are used at a time. */
  public DeadLetters(MySql mysql) {
    this.mysql = mysql;
  }

  /** How many a filter lets through; may look at all letters. */
  public long count(DeadLetterFilter filter) {
    return mysql.ask(handle -> DeadLetterTable.count(handle, filter));
  }

  /** The same, up to {@code most}, so that it costs no more than that. */
  public long count(DeadLetterFilter filter, long most) {
    return mysql.ask(handle -> DeadLetterTable.count(handle, filter, most));
  }

  /** The highest id, 0 when there is no letter. */
  public long lastId() {
    return mysql.ask(DeadLetterTable::lastId);
  }

  /** How many there are; throws {@link io.gameq.MySqlException} when MySQL does not answer. */
  public static long count(MySql mysql) {
    return mysql.ask(handle -> DeadLetterTable.count(handle, DeadLetterFilter.ALL));
  }

  /**
   * Hands over dead letters page by page, in the order of their ids, until no further page is
   * wanted; a page may be empty, see {@link DeadLetterTable#list}.
   *
   * @param afterId only those with a larger id
   * @param lastId those that come meanwhile are left out
   * @param withImage whether with their rows
   * @param most letters of a page that has none of their rows
   */
  public void pages(
      DeadLetterFilter filter,
      long afterId,
      long lastId,
      boolean withImage,
      int most,
      Predicate<Looked> page) {
    int rows = withImage ? PAGE_ROWS : most;
    Looked looked;
    for (long after = afterId; after < lastId; after = looked.upTo()) {
      long from = after;
      looked =
          mysql.ask(handle -> DeadLetterTable.list(handle, filter, from, lastId, withImage, rows));
      if (!page.test(looked)) {
        return;
      }
    }
  }

  /** The dead letter with this id, or null. */
  public @Nullable Stored find(long id) {
    return mysql.<@Nullable Stored>ask(handle -> DeadLetterTable.find(handle.getConnection(), id));
  }

  /**
   * Removes a dead letter and remembers that its change, and older ones of the row, were given up;
   * false when it is gone, or holds a newer version by now.
   */
  public boolean discard(Stored letter) {
    Refused row = letter.refused();
    return mysql.inTransaction(
        handle -> {
          // As every flush: one that began earlier writes before this, or not at all.
          OwnerTable.lock(handle.getConnection(), List.of(row.owner()));
          boolean removed = DeadLetterTable.remove(handle.getConnection(), letter);
          if (removed && isCredible(row)) {
            DiscardTable.write(
                handle.getConnection(),
                List.of(Discard.ofRow(row.owner(), row.table(), row.rowKey(), row.version())));
          }
          return removed;
        });
  }

  /**
   * Gives a dead letter another image of the same version; false when it is gone, or not any more
   * as it was read. A retry at the same time writes the old image or the new one.
   */
  public boolean replace(Stored letter, byte[] image) {
    return mysql.inTransaction(
        handle -> {
          OwnerTable.lock(handle.getConnection(), List.of(letter.refused().owner()));
          return DeadLetterTable.replaceImage(handle.getConnection(), letter, image);
        });
  }

  /**
   * Remembers what an operator is about to do.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer: then it is not to be done
   */
  public void audit(Actor actor, String action, String target, String detail) {
    AuditTable.add(mysql, actor, action, target, detail);
  }

  /** A damaged version may be far ahead, and would keep every later change of the row out. */
  private static boolean isCredible(Refused row) {
    return Shown.time(row.version()).isBefore(Instant.now().plus(FAR_AHEAD));
  }

  /** Compares dead letters with what MySQL holds, one state for each. */
  public List<State> states(List<Stored> letters) {
    Map<Long, RowKey> keys = new HashMap<>();
    for (Stored letter : letters) {
      RowKey key = rows().key(letter.refused().key());
      if (key != null) {
        keys.put(letter.id(), key);
      }
    }
    Map<RowKey, Long> there = rows().versions(keys.values());
    List<State> states = new ArrayList<>();
    for (Stored letter : letters) {
      RowKey key = keys.get(letter.id());
      if (key == null) {
        states.add(State.UNKNOWN);
      } else {
        boolean superseded = there.getOrDefault(key, -1L) >= letter.refused().version();
        states.add(superseded ? State.SUPERSEDED : State.WAITING);
      }
    }
    return states;
  }

  /** Decodes their rows. */
  public RowReading rows() {
    if (rows == null) {
      rows = new RowReading(mysql);
    }
    return Objects.requireNonNull(rows);
  }

  /** Writes their rows after all. */
  public DeadLetterRetry retry(boolean dryRun) {
    return new DeadLetterRetry(mysql, rows(), dryRun);
  }
}
