package io.gameq.mysql.tables;

import io.gameq.GameQueueException;
import io.gameq.mysql.GroupedCalls;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySqlErrors;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.mysql.Statements;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What MySQL holds of owners, and of rows that Redis holds for them. Thread-safe. */
public final class OwnerReader {
  /** Keeps a statement's placeholders and the optimizer's range memory small. */
  private static final int KEYS_PER_STATEMENT = 512;

  /** Of owners that are read at the same moment: what they hold is in memory together. */
  private static final int MOST_TOGETHER = 16;

  private static final int MOST_AT_ONCE = 4;

  private static final String NEWEST_TOMBSTONE =
      "GREATEST((SELECT COALESCE(MAX(version), 0) FROM gameq_tombstone WHERE owner = ?), (SELECT"
          + " COALESCE(MAX(version), 0) FROM gameq_discard WHERE owner = ? AND session = ''))";

  private final MySql mysql;
  private final GroupedCalls<ReadRequest, Boolean> snapshots =
      new GroupedCalls<>(MOST_TOGETHER, MOST_AT_ONCE, this::readOne, this::readAll);

  public OwnerReader(MySql mysql) {
    this.mysql = mysql;
  }

  // --- owners, from one snapshot

  /** Takes what is found. */
  public interface Sink {
    /** Before all else; again, when others held locks: what was told before is void then. */
    default void begin() {}

    void row(RowImage image);

    default void tombstone(RowKey key, long version) {}

    /**
     * Changes up to this version were given up; told before the rows of MySQL, which they spare.
     */
    default void discard(RowKey key, long version) {}

    /** A row of the owner that MySQL refused; told to sessions only, after all rows. */
    default void deadLetter(DeadLetterTable.Stored letter) {}

    /** The highest version among all tombstones and discards of the owner. */
    default void tombstoneVersion(long version) {}
  }

  /** An owner that is to be read, and set open where a session is given. */
  record ReadRequest(
      OwnerId owner,
      @Nullable SessionId session,
      long term,
      long adopted,
      List<Table> tables,
      Collection<RowKey> keys,
      Sink sink) {
    private OwnerTable.@Nullable NewlyOpen newlyOpen() {
      return session == null ? null : new OwnerTable.NewlyOpen(owner, session, adopted);
    }
  }

  /**
   * Reads the owner's rows, and by primary key the row and the tombstone of every key, whoever owns
   * it now, from one fresh snapshot of the primary. When a session is given, checks first that it
   * is still the newest and sets it open, in the same transaction: before, or the session before it
   * could flush what this read has missed; together, so that an open takes no more round trips and
   * commits than it must. Owners that are read at the same moment share the transaction.
   *
   * @param tables those of the owner's kind
   * @param keys rows that Redis holds for the owner
   * @param session null when none was opened; then neither term nor adopted count
   * @param term the number of the Redis primary that it was opened by way of, see {@link
   *     io.gameq.term}
   * @param adopted the highest version that it took over there, 0 for none
   * @return false when a newer session was opened meanwhile; what the sink was told is void then
   * @throws io.gameq.term.Term.TermMovedException when another primary counts: the session is not
   *     set open
   */
  public boolean read(
      OwnerId owner,
      @Nullable SessionId session,
      long term,
      long adopted,
      List<Table> tables,
      Collection<RowKey> keys,
      Sink sink) {
    return snapshots.call(new ReadRequest(owner, session, term, adopted, tables, keys, sink));
  }

  /** Up to three times when others hold locks, each time told anew. */
  Boolean readOne(ReadRequest wanted) {
    return MySqlErrors.mysqlAgain(() -> run(List.of(wanted)));
  }

  /** In one transaction, which ends as a whole: also where one is not the newest session. */
  List<Boolean> readAll(List<ReadRequest> wanted) {
    if (!run(wanted)) {
      throw new GameQueueException("of sessions that are opened together one is not the newest");
    }
    return Collections.nCopies(wanted.size(), true);
  }

  private boolean run(List<ReadRequest> wanted) {
    Statements all =
        new Statements()
            // Of this transaction only: to change the connection's takes more round trips.
            .add("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            .add("START TRANSACTION");
    List<OwnerTable.NewlyOpen> open =
        wanted.stream().map(ReadRequest::newlyOpen).filter(Objects::nonNull).toList();
    if (!open.isEmpty()) { // none of what follows where one is not the newest
      OwnerTable.addMarkOpen(all, open);
    }
    wanted.forEach(one -> one.sink.begin());
    addReads(all, wanted);
    // Last: a node that stalls holds up its owners only.
    wanted.stream().map(ReadRequest::term).distinct().forEach(term -> TermTable.addHold(all, term));
    return mysql.ask(handle -> all.runAndCommit(handle.getConnection()));
  }

  /** Each statement reads for all owners at once; what Redis holds is asked for by itself. */
  private static void addReads(Statements all, List<ReadRequest> wanted) {
    wanted.forEach(one -> DiscardTable.add(all, one.keys, one.owner, one.sink::discard));
    Map<Table, List<ReadRequest>> ofTables = new LinkedHashMap<>();
    for (ReadRequest one : wanted) {
      one.tables.forEach(table -> ofTables.computeIfAbsent(table, t -> new ArrayList<>()).add(one));
    }
    ofTables.forEach((table, of) -> addOwned(all, table, of));
    for (ReadRequest one : wanted) {
      Sql.byTable(one.keys).forEach((table, keys) -> addByKey(all, table, keys, one.sink));
      TombstoneTable.add(all, one.keys, one.sink::tombstone);
    }
    addTombstoneVersions(all, wanted);
    List<ReadRequest> opened = wanted.stream().filter(one -> one.session != null).toList();
    if (!opened.isEmpty()) {
      DeadLetterTable.addOfOwners(
          all,
          opened.stream().map(ReadRequest::owner).toList(),
          letter ->
              opened.stream()
                  .filter(one -> one.owner.equals(letter.refused().owner()))
                  .forEach(one -> one.sink.deadLetter(letter)));
    }
  }

  /** The newest tombstone or discard of each owner; each is found by one look into an index. */
  private static void addTombstoneVersions(Statements all, List<ReadRequest> wanted) {
    all.addSelect(
        IntStream.range(0, wanted.size())
            .mapToObj(i -> "SELECT " + i + ", " + NEWEST_TOMBSTONE)
            .collect(Collectors.joining(" UNION ALL ")),
        rs -> wanted.get(rs.getInt(1)).sink.tombstoneVersion(rs.getLong(2)),
        wanted.stream()
            .map(one -> one.owner.encoded())
            .flatMap(owner -> Stream.of(owner, owner))
            .toArray());
  }

  /** The rows of a table that these owners have, each told to whom it names. */
  private static void addOwned(Statements all, Table table, List<ReadRequest> wanted) {
    Map<String, List<Sink>> sinks = new LinkedHashMap<>();
    for (ReadRequest one : wanted) {
      sinks.computeIfAbsent(one.owner.key(), key -> new ArrayList<>()).add(one.sink);
    }
    List<Object> owners =
        Sql.padded(
            wanted.stream().map(one -> table.ownerColumnValue(one.owner)).distinct().toList());
    addRows(
        all,
        table,
        JdbcValues.quoted(table.ownerColumn().name()) + " IN (" + Sql.marks(owners.size()) + ")",
        row -> {
          // MySQL takes a text with spaces at its end for the same: it names nobody.
          Object owner = Objects.requireNonNull(row.values()[table.ownerIndex()]);
          sinks
              .getOrDefault(table.ownerColumn().type().ownerKey(owner), List.of())
              .forEach(sink -> sink.row(row));
        },
        owners.stream().map(owner -> JdbcValues.parameter(table.ownerColumn(), owner)).toList());
  }

  private static void addByKey(Statements all, Table table, List<RowKey> keys, Sink sink) {
    for (List<RowKey> some : Sql.chunks(keys, KEYS_PER_STATEMENT)) {
      addRows(all, table, Sql.keyIn(table, some.size()), sink::row, Sql.keyArguments(table, some));
    }
  }

  private static void addRows(
      Statements all,
      Table table,
      String where,
      Consumer<RowImage> row,
      List<? extends @Nullable Object> arguments) {
    all.addSelect(
        "SELECT gq_version, "
            + JdbcValues.selectExpressions(table.columns())
            + " FROM "
            + JdbcValues.quoted(table.name())
            + " WHERE "
            + where,
        rs ->
            row.accept(
                new RowImage(
                    table, RowOp.PUT, rs.getLong(1), JdbcValues.read(rs, 2, table.columns()))),
        arguments.toArray());
  }

  // --- rows by key

  /**
   * The versions in which rows were refused and set aside, of each owner that put them; the others
   * are missing.
   */
  public Map<OwnerId, Map<RowKey, Long>> setAside(Collection<RowKey> keys) {
    return mysql.ask(handle -> setAside(handle.getConnection(), keys));
  }

  private static Map<OwnerId, Map<RowKey, Long>> setAside(
      Connection connection, Collection<RowKey> keys) throws SQLException {
    Map<OwnerId, Map<RowKey, Long>> found = new HashMap<>();
    DeadLetterTable.addVersions(connection, keys, found);
    DiscardTable.addVersions(connection, keys, found);
    return found;
  }

  /**
   * Of rows of {@link io.gameq.rows.HandledRow} those of messages of which no handler's rows count
   * so far; waits for flushes that are about to decide.
   */
  public List<RowChange> handledByNobody(List<RowChange> rows) {
    return mysql.ask(handle -> HandledTable.ofNobody(handle.getConnection(), rows));
  }

  /**
   * What MySQL holds of rows while no flush of their owner is under way.
   *
   * @param open the owner's newest session; null when it is not open yet
   * @param versions as {@link #versions}
   * @param setAside as {@link #setAside}
   */
  public record Settled(
      @Nullable SessionId open, Map<RowKey, Long> versions, Map<RowKey, Long> setAside) {}

  /** Waits for a flush of the owner that is under way, then looks; holds flushes back meanwhile. */
  public Settled settled(OwnerId owner, Collection<RowKey> keys) {
    return mysql.inTransaction(
        handle -> {
          Connection connection = handle.getConnection();
          return new Settled(
              OwnerTable.lockOpen(connection, owner),
              versions(connection, keys),
              setAside(connection, keys).getOrDefault(owner, Map.of()));
        });
  }

  /**
   * The version that MySQL holds of each row, deleted rows by their tombstone; rows it knows
   * nothing of are missing.
   */
  public Map<RowKey, Long> versions(Collection<RowKey> keys) {
    return mysql.ask(handle -> versions(handle.getConnection(), keys));
  }

  /** The same, within the caller's transaction. */
  public static Map<RowKey, Long> versions(Connection connection, Collection<RowKey> keys)
      throws SQLException {
    Map<RowKey, Long> found = rowVersions(connection, keys, "");
    TombstoneTable.read(connection, keys, false)
        .forEach((key, version) -> found.merge(key, version, Math::max));
    return found;
  }

  /** The version of each row that there is; {@code locking} is a clause, or empty. */
  public static Map<RowKey, Long> rowVersions(
      Connection connection, Collection<RowKey> keys, String locking) throws SQLException {
    Map<RowKey, Long> found = new HashMap<>();
    for (Map.Entry<Table, List<RowKey>> of : Sql.byTable(keys).entrySet()) {
      Table table = of.getKey();
      for (List<RowKey> chunk : Sql.chunks(of.getValue(), KEYS_PER_STATEMENT)) {
        List<RowKey> some = Sql.padded(chunk);
        Sql.select(
            connection,
            "SELECT gq_version, "
                + JdbcValues.selectExpressions(table.keyColumns())
                + " FROM "
                + JdbcValues.quoted(table.name())
                + " WHERE "
                + Sql.keyIn(table, some.size())
                + locking,
            rs -> found.put(JdbcValues.readKey(rs, 2, table), rs.getLong(1)),
            Sql.keyArguments(table, some).toArray());
      }
    }
    return found;
  }
}
