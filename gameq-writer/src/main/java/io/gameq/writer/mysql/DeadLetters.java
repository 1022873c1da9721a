package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.MySqlErrors.MySqlText;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.mysql.flush.GuardedTransaction;
import io.gameq.mysql.flush.GuardedWrites;
import io.gameq.mysql.flush.RowBisection.RowRefusal;
import io.gameq.mysql.flush.RowBisection.StatementLimits;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.mysql.tables.DiscardTable;
import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.OwnerId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader;
import io.gameq.terminal.Shown;
import io.gameq.topic.DeadLetter;
import io.gameq.writer.mysql.StoredRowDecoder.DecodeError;
import io.gameq.writer.mysql.StoredRowDecoder.DecodeResult;
import io.gameq.writer.mysql.StoredRowDecoder.DecodedRow;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
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

  /** A lock is waited for innodb_lock_wait_timeout each time. */
  private static final int MOST_TRIES = 3;

  /** Who sent it is not remembered. */
  private static final String NO_PROCESS = "00000000";

  private final MySql mysql;
  private @Nullable StoredRowDecoder rows;
  private @Nullable GuardedWrites writes;

  /** What a dead letter is worth now. */
  public enum LetterState {
    /** MySQL holds an older version of the row, or none. */
    WAITING,
    /** MySQL holds this version of the row or a newer one, or deleted it since. */
    SUPERSEDED,
    /** The table is not managed now, or the key is damaged. */
    UNKNOWN
  }

  /** How a retry ended. */
  public enum RetryStatus {
    /** The row is in MySQL, the letter is removed. */
    WRITTEN,
    /** MySQL holds this version of the row or a newer one; the letter is removed. */
    SUPERSEDED,
    /** The letter stays. */
    REFUSED,
    /** Somebody holds a lock for long; nothing was changed. */
    LOCKED,
    /** Somebody else removed the letter. */
    GONE
  }

  /**
   * The result of a retry.
   *
   * @param curable another row may make it fit
   */
  public record RetryResult(RetryStatus status, int errorCode, String reason, boolean curable) {
    private RetryResult(RetryStatus status) {
      this(status, 0, "", false);
    }
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
   * Hands over dead letters page by page, in the order of their ids, until no further page is
   * wanted; a page may be empty, since MySQL looks at {@link #MOST_LOOKED} letters at most.
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

  /** Those of an owner, the oldest first; the parameters are as those of {@link #list}. */
  public List<Stored> ofOwner(OwnerId owner, boolean withImage, int limit) {
    return list(DeadLetterFilter.ofOwner(owner), 0, Long.MAX_VALUE, withImage, limit).letters();
  }

  /** The dead letter with this id, or null. */
  public @Nullable Stored find(long id) {
    return mysql.<@Nullable Stored>ask(handle -> find(handle.getConnection(), id));
  }

  static @Nullable Stored find(Connection connection, long id) throws SQLException {
    String sql = "SELECT " + DeadLetterTable.COLUMNS + " FROM gameq_dead_letter WHERE id = ?";
    return Sql.first(connection, sql, DeadLetterTable::letter, id);
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
    List<@Nullable RowKey> keys = new ArrayList<>();
    letters.forEach(of -> keys.add(rows().key(of.refused().key())));
    Map<RowKey, Long> there = rows().versions(keys.stream().filter(Objects::nonNull).toList());
    List<LetterState> states = new ArrayList<>();
    for (int i = 0; i < letters.size(); i++) {
      RowKey key = keys.get(i);
      if (key == null) {
        states.add(LetterState.UNKNOWN);
      } else {
        boolean superseded = there.getOrDefault(key, -1L) >= letters.get(i).refused().version();
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

  /**
   * Writes the row of a dead letter after all, in one transaction, as guarded as a flush: a newer
   * row stays, a deleted one stays deleted. Killed anywhere, the letter is there or its row is
   * written.
   *
   * @param isDryRun whether everything is rolled back
   * @throws MySqlException when MySQL does not answer; the letter was tried as a whole or not at
   *     all
   */
  public RetryResult retry(long id, boolean isDryRun) {
    if (writes == null) {
      writes = GuardedWrites.on(mysql);
    }
    try {
      return GuardedTransaction.run(
          mysql,
          writes,
          GuardedTransaction.Retry.ofConflicts(MOST_TRIES),
          () -> {},
          transaction -> retry(transaction, id, isDryRun));
    } catch (SQLException e) {
      if (ErrorKind.of(e) != ErrorKind.TRY_AGAIN) {
        throw new MySqlException("MySQL does not answer as it should: " + MySqlText.of(e), e);
      }
      return new RetryResult(RetryStatus.LOCKED, 0, MySqlText.of(e), false);
    }
  }

  private RetryResult retry(GuardedTransaction transaction, long id, boolean isDryRun)
      throws SQLException {
    Stored letter = lock(transaction, id);
    if (letter == null) {
      return new RetryResult(RetryStatus.GONE);
    }
    RetryResult outcome = write(transaction, letter);
    if (!isDryRun) {
      if (outcome.status == RetryStatus.REFUSED) {
        transaction.connection().rollback();
        noteRefusal(transaction.connection(), letter, outcome);
      }
      transaction.commit();
    }
    return outcome;
  }

  /** Notes a further try, unless a newer version of the row was refused meanwhile. */
  private static void noteRefusal(Connection connection, Stored letter, RetryResult outcome)
      throws SQLException {
    Sql.execute(
        connection,
        "UPDATE gameq_dead_letter SET error_code = ?, error_text = LEFT(?, 1024), attempts ="
            + " attempts + 1, refused_at = UTC_TIMESTAMP(3) WHERE id = ? AND version = ?",
        outcome.errorCode,
        outcome.reason,
        letter.id(),
        version(letter));
  }

  /**
   * The letter as it is once the owners' rows are locked, as every flush of them locks them; null
   * when it is gone.
   */
  private static @Nullable Stored lock(GuardedTransaction transaction, long id)
      throws SQLException {
    Stored letter = find(transaction.connection(), id);
    Set<OwnerId> locked = Set.of();
    while (letter != null && !owners(letter).equals(locked)) {
      locked = owners(letter);
      transaction.lock(locked);
      letter = find(transaction.connection(), id);
    }
    return letter;
  }

  /** Its owner, and those that its row was received from or given to. */
  private static Set<OwnerId> owners(Stored letter) {
    Set<OwnerId> owners = new HashSet<>();
    owners.add(letter.refused().owner());
    try {
      RowHeader.handovers(letter.refused().image())
          .forEach(handover -> owners.add(handover.other()));
    } catch (GameQueueException e) {
      return owners; // damaged: it is not written anyway
    }
    return owners;
  }

  private RetryResult write(GuardedTransaction transaction, Stored letter) throws SQLException {
    Connection connection = transaction.connection();
    Refused row = letter.refused();
    DecodeResult reading = rows().read(row.key(), row.image());
    if (!(reading instanceof DecodedRow decoded)) {
      return new RetryResult(RetryStatus.REFUSED, 0, ((DecodeError) reading).reason(), false);
    }
    long there =
        OwnerReader.versions(connection, List.of(decoded.key())).getOrDefault(decoded.key(), -1L);
    if (there < row.version()) {
      // What was sent is as new as ever: it is not written over the row that has its key.
      OwnerId owner =
          row.errorCode() == DeadLetter.KEY_IN_USE ? row.owner().inbox(NO_PROCESS) : row.owner();
      SQLException refusal =
          refusal(transaction, new RowChange(owner, decoded.key(), decoded.image(), row.image()));
      if (refusal != null) {
        boolean curable = ErrorKind.of(refusal) == ErrorKind.CURABLE;
        return new RetryResult(
            RetryStatus.REFUSED, refusal.getErrorCode(), MySqlText.of(refusal), curable);
      }
    }
    if (!remove(connection, letter)) { // another retry, or a newer version
      throw new SQLTransactionRollbackException("it changes all the time", "40001");
    }
    return new RetryResult(there < row.version() ? RetryStatus.WRITTEN : RetryStatus.SUPERSEDED);
  }

  /** Why MySQL does not take a row; null when it was written. */
  private static @Nullable SQLException refusal(GuardedTransaction transaction, RowChange change)
      throws SQLException {
    try {
      List<RowRefusal> refusals =
          transaction.write(
              List.of(change), Set.of(ErrorKind.ROW, ErrorKind.CURABLE), StatementLimits.NONE);
      return refusals.isEmpty() ? null : refusals.get(0).error();
    } catch (SQLException e) {
      ErrorKind kind = ErrorKind.of(e);
      if (kind == ErrorKind.TRY_AGAIN || kind == ErrorKind.OUTAGE) {
        throw e;
      }
      return e;
    }
  }

  /**
   * Which dead letters are meant: those that fit everything it names; immutable.
   *
   * @param ids empty for whichever
   * @param owner null for whichever, as in what follows
   * @param table by its name
   * @param errorCode MySQL's, 0 for an error of gameq's own, -1 for a row of another owner
   * @param error a part of the error's text, in capital letters or not
   * @param since refused then or later
   * @param before refused earlier than then
   */
  public record DeadLetterFilter(
      List<Long> ids,
      @Nullable OwnerId owner,
      @Nullable String table,
      @Nullable Integer errorCode,
      @Nullable String error,
      @Nullable Instant since,
      @Nullable Instant before) {
    /** Every dead letter. */
    public static final DeadLetterFilter ALL =
        new DeadLetterFilter(List.of(), null, null, null, null, null, null);

    /** Those with these ids. */
    public static DeadLetterFilter ofIds(List<Long> ids) {
      return new DeadLetterFilter(ids, null, null, null, null, null, null);
    }

    /** Those of an owner. */
    public static DeadLetterFilter ofOwner(OwnerId owner) {
      return new DeadLetterFilter(List.of(), owner, null, null, null, null, null);
    }

    /** Whether it lets everything through. */
    public boolean isAll() {
      return equals(ALL);
    }

    /** Whether indexes find them; else MySQL looks at each letter, or each of the owner. */
    public boolean isIndexed() {
      return table == null && errorCode == null && error == null && since == null && before == null;
    }

    /** What indexes find of it: no letter that it lets through is left out. */
    DeadLetterFilter indexed() {
      return new DeadLetterFilter(ids, owner, null, null, null, null, null);
    }

    /** The index by which it is read in the order of ids: MySQL may take another one, and sort. */
    String index() {
      return " FORCE INDEX (" + (owner == null ? "PRIMARY" : "gameq_dead_letter_owner") + ")";
    }

    /**
     * A query of those that it lets through.
     *
     * @param from what stands between the table and WHERE
     * @param ending may go on with AND
     */
    Query select(Handle handle, String columns, String from, String ending) {
      StringJoiner where = new StringJoiner(" AND ");
      where.add("TRUE");
      if (!ids.isEmpty()) { // numbers
        where.add(
            "id IN (" + ids.stream().map(String::valueOf).collect(Collectors.joining(",")) + ")");
      }
      Map<String, Object> given = new LinkedHashMap<>();
      add(given, where, "owner = :owner", "owner", owner == null ? null : owner.encoded());
      add(given, where, "table_name = :table", "table", table);
      add(given, where, "error_code = :code", "code", errorCode);
      add(given, where, "LOCATE(:error, error_text) > 0", "error", error);
      add(given, where, "refused_at >= :since", "since", since == null ? null : utc(since));
      add(given, where, "refused_at < :before", "before", before == null ? null : utc(before));
      return handle
          .createQuery(
              "SELECT " + columns + " FROM gameq_dead_letter" + from + " WHERE " + where + ending)
          .bindMap(given);
    }

    private static void add(
        Map<String, Object> all,
        StringJoiner where,
        String condition,
        String name,
        @Nullable Object given) {
      if (given != null) {
        where.add(condition);
        all.put(name, given);
      }
    }

    private static LocalDateTime utc(Instant time) {
      return LocalDateTime.ofInstant(time, ZoneOffset.UTC);
    }

    /** In words: {@code table item, error code 4025}; {@code all}. */
    @Override
    public String toString() {
      StringJoiner words = new StringJoiner(", ");
      if (!ids.isEmpty()) {
        words.add("id " + ids.stream().map(String::valueOf).collect(Collectors.joining(" ")));
      }
      addWords(words, "owner", owner == null ? null : owner.id());
      addWords(words, "table", table);
      addWords(words, "error code", errorCode);
      addWords(words, "error text", error);
      addWords(words, "since", since);
      addWords(words, "before", before);
      return isAll() ? "all" : words.toString();
    }

    private static void addWords(StringJoiner words, String name, @Nullable Object given) {
      if (given != null) {
        words.add(name + " " + given);
      }
    }
  }
}
