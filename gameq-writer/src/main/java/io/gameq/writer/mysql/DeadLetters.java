package io.gameq.writer.mysql;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.mysql.tables.DiscardTable;
import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.OwnerId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.terminal.Shown;
import java.sql.Connection;
import java.sql.SQLException;
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

  /** Of a list, where no index finds what is asked for: some milliseconds of MySQL. */
  public static final int MOST_LOOKED = 10_000;

  /** More than any clock of a node may be wrong. */
  private static final Duration FAR_AHEAD = Duration.ofDays(1);

  private final MySql mysql;
  private @Nullable StoredRowDecoder rows;

  /** What a dead letter is worth now. */
  public enum LetterState {
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
    return mysql.ask(handle -> filter.select(handle, "COUNT(*)", "", "").mapTo(Long.class).one());
  }

  /** The same, up to {@code most}, so that it costs no more than that. */
  public long count(DeadLetterFilter filter, long most) {
    return extent(filter, 0, Long.MAX_VALUE, most).count();
  }

  /** How many there are, and the highest id among them, 0 for none. */
  private record Extent(long count, long lastId) {}

  private Extent extent(DeadLetterFilter filter, long afterId, long lastId, long most) {
    return mysql.ask(
        handle ->
            filter
                .select(
                    handle,
                    "COUNT(*), COALESCE(MAX(id), 0) FROM (SELECT id",
                    filter.index(),
                    " AND id > :after AND id <= :last ORDER BY id LIMIT :n) AS some")
                .bind("after", afterId)
                .bind("last", lastId)
                .bind("n", most)
                .map((rs, context) -> new Extent(rs.getLong(1), rs.getLong(2)))
                .one());
  }

  /** The highest id, 0 when there is no letter. */
  public long lastId() {
    String sql = "SELECT COALESCE(MAX(id), 0) FROM gameq_dead_letter";
    return mysql.list(sql, rs -> rs.getLong(1)).get(0);
  }

  /** How many there are; throws {@link io.gameq.MySqlException} when MySQL does not answer. */
  public static long count(MySql mysql) {
    return new DeadLetters(mysql).count(DeadLetterFilter.ALL);
  }

  /**
   * An owner of some of the newest dead letters.
   *
   * @param letters how many it has of the newest thousand
   */
  public record LetterCount(OwnerId owner, long letters) {}

  /** Owners of the newest thousand dead letters, the latest refused first. */
  public static List<LetterCount> newestOwners(MySql mysql, int most) {
    return mysql.list(
        "SELECT owner, COUNT(*) FROM (SELECT id, owner FROM gameq_dead_letter ORDER BY id DESC"
            + " LIMIT 1000) AS newest GROUP BY owner ORDER BY MAX(id) DESC LIMIT ?",
        rs -> new LetterCount(OwnerId.ofEncoded(rs.getString(1)), rs.getLong(2)),
        most);
  }

  /**
   * Some dead letters, in the order of their ids.
   *
   * @param looked how many MySQL looked at, at least
   * @param upTo the id up to which they are all there are
   */
  public record LetterBatch(List<Stored> letters, long looked, long upTo) {}

  /**
   * Dead letters with ids above {@code afterId} up to {@code lastId}, or up to one in between:
   * MySQL looks at {@link #MOST_LOOKED} letters at most.
   *
   * @param withImage whether with their rows; else these are empty
   * @param limit of letters
   */
  public LetterBatch list(
      DeadLetterFilter filter, long afterId, long lastId, boolean withImage, int limit) {
    Extent window = new Extent(0, 0);
    if (!filter.isIndexed()) {
      window = extent(filter.indexed(), afterId, lastId, MOST_LOOKED);
    }
    long until = window.count() < MOST_LOOKED ? lastId : window.lastId();
    String columns = DeadLetterTable.COLUMNS;
    List<Stored> letters =
        mysql.ask(
            handle ->
                filter
                    .select(
                        handle,
                        withImage ? columns : columns.replace(" image,", " '' AS image,"),
                        filter.index(),
                        " AND id > :after AND id <= :last ORDER BY id LIMIT :n")
                    .bind("after", afterId)
                    .bind("last", until)
                    .bind("n", limit)
                    .map((rs, context) -> DeadLetterTable.letter(rs))
                    .list());
    boolean isCut = letters.size() == limit;
    return new LetterBatch(
        letters,
        isCut ? limit : Math.max(window.count(), letters.size()),
        isCut ? letters.get(limit - 1).id() : until);
  }

  /**
   * Hands over dead letters page by page, in the order of their ids, until no further page is
   * wanted; a page may be empty, see {@link #list}.
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
      Predicate<LetterBatch> page) {
    long after = afterId;
    while (after < lastId) {
      LetterBatch looked = list(filter, after, lastId, withImage, withImage ? PAGE_ROWS : most);
      if (!page.test(looked)) {
        return;
      }
      after = looked.upTo();
    }
  }

  /** The dead letter with this id, or null. */
  public @Nullable Stored find(long id) {
    return mysql.<@Nullable Stored>ask(handle -> find(handle.getConnection(), id));
  }

  static @Nullable Stored find(Connection connection, long id) throws SQLException {
    String sql = "SELECT " + DeadLetterTable.COLUMNS + " FROM gameq_dead_letter WHERE id = ?";
    return Sql.first(connection, sql, DeadLetterTable::letter, id);
  }

  /**
   * Notes that a dead letter was tried once more, unless a newer version of the row was refused
   * meanwhile.
   */
  static void refusedAgain(Connection connection, Stored letter, int errorCode, String errorText)
      throws SQLException {
    Sql.execute(
        connection,
        "UPDATE gameq_dead_letter SET error_code = ?, error_text = LEFT(?, 1024), attempts ="
            + " attempts + 1, refused_at = UTC_TIMESTAMP(3) WHERE id = ? AND version = ?",
        errorCode,
        errorText,
        letter.id(),
        version(letter));
  }

  /** Removes a dead letter, unless a newer version of the row was refused meanwhile. */
  static boolean remove(Connection connection, Stored letter) throws SQLException {
    String sql = "DELETE FROM gameq_dead_letter WHERE id = ? AND version = ?";
    return Sql.execute(connection, sql, letter.id(), version(letter)) == 1;
  }

  /** A damaged one may be large. */
  private static String version(Stored letter) {
    return Long.toUnsignedString(letter.refused().version());
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
          boolean removed = remove(handle.getConnection(), letter);
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
          return Sql.execute(
                  handle.getConnection(),
                  // The new image may be there already: the reply to the first try was lost.
                  "UPDATE gameq_dead_letter SET image = ? WHERE id = ? AND version = ? AND image IN"
                      + " (?, ?)",
                  image,
                  letter.id(),
                  version(letter),
                  letter.refused().image(),
                  image)
              == 1;
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
  public List<LetterState> states(List<Stored> letters) {
    Map<Long, RowKey> keys = new HashMap<>();
    for (Stored letter : letters) {
      RowKey key = rows().key(letter.refused().key());
      if (key != null) {
        keys.put(letter.id(), key);
      }
    }
    Map<RowKey, Long> there = rows().versions(keys.values());
    List<LetterState> states = new ArrayList<>();
    for (Stored letter : letters) {
      RowKey key = keys.get(letter.id());
      if (key == null) {
        states.add(LetterState.UNKNOWN);
      } else {
        boolean superseded = there.getOrDefault(key, -1L) >= letter.refused().version();
        states.add(superseded ? LetterState.SUPERSEDED : LetterState.WAITING);
      }
    }
    return states;
  }

  /** Decodes their rows. */
  public StoredRowDecoder rows() {
    if (rows == null) {
      rows = new StoredRowDecoder(mysql);
    }
    return Objects.requireNonNull(rows);
  }

  /** Writes their rows after all. */
  public DeadLetterRetry retry(boolean dryRun) {
    return new DeadLetterRetry(mysql, rows(), dryRun);
  }
}
