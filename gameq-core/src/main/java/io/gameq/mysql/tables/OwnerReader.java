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
import io.gameq.rows.Table.Column;
import io.gameq.term.Term;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
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
import org.jspecify.annotations.Nullable;

/** What MySQL holds of owners, and of rows that Redis holds for them. Thread-safe. */
public final class OwnerReader {
  /** Keeps a statement's placeholders and the optimizer's range memory small. */
  static final int KEYS_PER_STATEMENT = 500;

  /** Of owners that are read at the same moment: what they hold is in memory together. */
  private static final int MOST_TOGETHER = 16;

  private static final int MOST_AT_ONCE = 4;

  private final MySql mysql;
  private final GroupedCalls<OwnerSnapshots.Wanted, Boolean> snapshots;

  public OwnerReader(MySql mysql) {
    this.mysql = mysql;
    this.snapshots = new GroupedCalls<>(MOST_TOGETHER, MOST_AT_ONCE, new OwnerSnapshots(mysql));
  }

  /** Takes what is found. */
  public interface Sink {
    /** Before all else; again, when others held locks: what was told before is void then. */
    default void begin() {}

    void row(RowImage image);

    void tombstone(RowKey key, long version);

    /**
     * Changes up to this version were given up; told before the rows of MySQL, which they spare.
     */
    default void discard(RowKey key, long version) {}

    /** A row of the owner that MySQL refused; told to sessions only, after all rows. */
    default void deadLetter(DeadLetterTable.Stored letter) {}

    /** The highest version among all tombstones and discards of the owner. */
    void tombstoneVersion(long version);
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
   * @return false when a newer session was opened meanwhile; what the sink was told is void then
   */
  public boolean read(
      OwnerId owner,
      @Nullable SessionId session,
      List<Table> tables,
      Collection<RowKey> keys,
      Sink sink) {
    return read(owner, session, Term.NOT_KNOWN, 0, tables, keys, sink);
  }

  /**
   * The same of a session that was opened by way of a Redis primary.
   *
   * @param term its number, see {@link io.gameq.term}
   * @param adopted the highest version that it took over there, 0 for none
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
    return snapshots.call(
        new OwnerSnapshots.Wanted(owner, session, term, adopted, tables, keys, sink));
  }

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
    for (Map.Entry<Table, List<RowKey>> of :
        keys.stream().collect(Collectors.groupingBy(RowKey::table)).entrySet()) {
      DeadLetterTable.versions(connection, of.getKey(), of.getValue())
          .forEach(
              (owner, versions) ->
                  found.computeIfAbsent(owner, o -> new HashMap<>()).putAll(versions));
      DiscardTable.versions(connection, of.getKey(), of.getValue())
          .forEach(
              (owner, versions) ->
                  versions.forEach(
                      (key, version) ->
                          found
                              .computeIfAbsent(owner, o -> new HashMap<>())
                              .merge(key, version, Math::max)));
    }
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
          SessionId open = OwnerTable.lockOpen(handle, owner);
          Connection connection = handle.getConnection();
          return new Settled(
              open,
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
    Map<RowKey, Long> found = new HashMap<>();
    for (Map.Entry<Table, List<RowKey>> of :
        keys.stream().collect(Collectors.groupingBy(RowKey::table)).entrySet()) {
      found.putAll(rowVersions(connection, of.getKey(), of.getValue()));
      TombstoneTable.read(connection, of.getKey(), of.getValue(), false)
          .forEach((key, version) -> found.merge(key, version, Math::max));
    }
    return found;
  }

  /** The version of each row that there is. */
  public static Map<RowKey, Long> rowVersions(
      Connection connection, Table table, Collection<RowKey> keys) throws SQLException {
    return rowVersions(connection, table, keys, "");
  }

  /** The same, with a locking clause. */
  static Map<RowKey, Long> rowVersions(
      Connection connection, Table table, Collection<RowKey> keys, String locking)
      throws SQLException {
    Map<RowKey, Long> found = new HashMap<>();
    String key =
        table.keyColumns().stream()
            .map(JdbcValues::selectExpression)
            .collect(Collectors.joining(", "));
    for (List<RowKey> some : Sql.chunks(new ArrayList<>(keys), KEYS_PER_STATEMENT)) {
      String sql =
          "SELECT gq_version, "
              + key
              + " FROM "
              + JdbcValues.quoted(table.name())
              + " WHERE "
              + Sql.keyIn(table, some.size())
              + locking;
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        int at = 1;
        for (RowKey k : some) {
          at = Sql.bindKey(statement, at, table, k.parts());
        }
        try (ResultSet rs = statement.executeQuery()) {
          while (rs.next()) {
            found.put(JdbcValues.readKey(rs, 2, table), rs.getLong(1));
          }
        }
      }
    }
    return found;
  }

  /**
   * Step 3 of open, and every read: owners from one fresh snapshot of the primary, see {@link
   * OwnerReader#read}. Thread-safe.
   */
  static final class OwnerSnapshots implements GroupedCalls.Server<OwnerSnapshots.Wanted, Boolean> {
    private static final String NEWEST_TOMBSTONE =
        "GREATEST((SELECT COALESCE(MAX(version), 0) FROM gameq_tombstone WHERE owner = ?), (SELECT"
            + " COALESCE(MAX(version), 0) FROM gameq_discard WHERE owner = ? AND session = ''))";

    private final MySql mysql;

    OwnerSnapshots(MySql mysql) {
      this.mysql = mysql;
    }

    /** An owner that is to be read, and set open where a session is given. */
    record Wanted(
        OwnerId owner,
        @Nullable SessionId session,
        long term,
        long adopted,
        List<Table> tables,
        Collection<RowKey> keys,
        Sink sink) {
      Map<Table, List<RowKey>> keysOfTables() {
        return keys.stream().collect(Collectors.groupingBy(RowKey::table));
      }

      OwnerTable.@Nullable NewlyOpen newlyOpen() {
        return session == null ? null : new OwnerTable.NewlyOpen(owner, session, adopted);
      }
    }

    /** Up to three times when others hold locks, each time told anew. */
    @Override
    public Boolean one(Wanted wanted) {
      return MySqlErrors.mysqlAgain(() -> run(statements(List.of(wanted))));
    }

    /** In one transaction, which ends as a whole: also where one is not the newest session. */
    @Override
    public List<Boolean> many(List<Wanted> wanted) {
      if (!run(statements(wanted))) {
        throw new GameQueueException("of sessions that are opened together one is not the newest");
      }
      return Collections.nCopies(wanted.size(), true);
    }

    private boolean run(Statements all) {
      return mysql.ask(handle -> all.runAndCommit(handle.getConnection()));
    }

    private static Statements statements(List<Wanted> wanted) {
      Statements all =
          new Statements()
              // Of this transaction only: to change the connection's takes more round trips.
              .add("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
              .add("START TRANSACTION");
      List<OwnerTable.NewlyOpen> open =
          wanted.stream().map(Wanted::newlyOpen).filter(Objects::nonNull).toList();
      if (!open.isEmpty()) { // none of what follows where one is not the newest
        OwnerTable.addMarkOpen(all, open);
      }
      wanted.forEach(one -> one.sink.begin());
      addReads(all, wanted);
      // Last: a node that stalls holds up its owners only.
      wanted.stream().map(Wanted::term).distinct().forEach(term -> TermTable.addHold(all, term));
      return all;
    }

    /** Each statement reads for all owners at once; what Redis holds is asked for by itself. */
    private static void addReads(Statements all, List<Wanted> wanted) {
      for (Wanted one : wanted) {
        one.keysOfTables()
            .forEach((table, of) -> DiscardTable.add(all, table, of, one.owner, one.sink::discard));
      }
      Map<Table, List<Wanted>> ofTables = new LinkedHashMap<>();
      for (Wanted one : wanted) {
        one.tables.forEach(
            table -> ofTables.computeIfAbsent(table, t -> new ArrayList<>()).add(one));
      }
      ofTables.forEach((table, of) -> addOwned(all, table, of));
      for (Wanted one : wanted) {
        one.keysOfTables()
            .forEach(
                (table, of) -> {
                  addByKey(all, table, of, one.sink);
                  TombstoneTable.add(all, table, of, one.sink::tombstone);
                });
      }
      addTombstoneVersions(all, wanted);
      List<Wanted> opened = wanted.stream().filter(one -> one.session != null).toList();
      if (!opened.isEmpty()) {
        DeadLetterTable.addOfOwners(
            all,
            opened.stream().map(Wanted::owner).toList(),
            letter ->
                opened.stream()
                    .filter(one -> one.owner.equals(letter.refused().owner()))
                    .forEach(one -> one.sink.deadLetter(letter)));
      }
    }

    /** The newest tombstone or discard of each owner; each is found by one look into an index. */
    private static void addTombstoneVersions(Statements all, List<Wanted> wanted) {
      all.addSelect(
          IntStream.range(0, wanted.size())
              .mapToObj(i -> "SELECT " + i + ", " + NEWEST_TOMBSTONE)
              .collect(Collectors.joining(" UNION ALL ")),
          (statement, at) -> {
            int next = at;
            for (Wanted one : wanted) {
              statement.setString(next++, one.owner.encoded());
              statement.setString(next++, one.owner.encoded());
            }
            return next;
          },
          rs -> {
            while (rs.next()) {
              wanted.get(rs.getInt(1)).sink.tombstoneVersion(rs.getLong(2));
            }
          });
    }

    /** The rows of a table that these owners have, each told to whom it names. */
    private static void addOwned(Statements all, Table table, List<Wanted> wanted) {
      Map<String, List<Sink>> sinks = new LinkedHashMap<>();
      for (Wanted one : wanted) {
        sinks.computeIfAbsent(one.owner.key(), key -> new ArrayList<>()).add(one.sink);
      }
      List<Object> owners =
          Sql.padded(
              wanted.stream().map(one -> table.ownerColumnValue(one.owner)).distinct().toList());
      Column column = table.ownerColumn();
      all.addSelect(
          select(table)
              + " WHERE "
              + JdbcValues.quoted(column.name())
              + " IN ("
              + Sql.marks(owners.size())
              + ")",
          (statement, at) -> {
            int next = at;
            for (Object owner : owners) {
              JdbcValues.bind(statement, next++, column, owner);
            }
            return next;
          },
          rs ->
              readRows(
                  rs,
                  table,
                  row -> {
                    // MySQL takes a text with spaces at its end for the same: it names nobody.
                    String owner = String.valueOf(row.values()[table.ownerIndex()]);
                    sinks.getOrDefault(owner, List.of()).forEach(sink -> sink.row(row));
                  }));
    }

    private static void addByKey(Statements all, Table table, List<RowKey> keys, Sink sink) {
      for (List<RowKey> some : Sql.chunks(keys, OwnerReader.KEYS_PER_STATEMENT)) {
        all.addSelect(
            select(table) + " WHERE " + Sql.keyIn(table, some.size()),
            (statement, at) -> {
              int next = at;
              for (RowKey key : some) {
                next = Sql.bindKey(statement, next, table, key.parts());
              }
              return next;
            },
            rs -> readRows(rs, table, sink::row));
      }
    }

    private static String select(Table table) {
      return "SELECT gq_version, "
          + table.columns().stream()
              .map(JdbcValues::selectExpression)
              .collect(Collectors.joining(", "))
          + " FROM "
          + JdbcValues.quoted(table.name());
    }

    private static void readRows(ResultSet rs, Table table, Consumer<RowImage> to)
        throws SQLException {
      List<Column> columns = table.columns();
      while (rs.next()) {
        @Nullable Object[] row = new @Nullable Object[columns.size()];
        for (int i = 0; i < row.length; i++) {
          row[i] = JdbcValues.read(rs, i + 2, columns.get(i));
        }
        to.accept(new RowImage(table, RowOp.PUT, rs.getLong(1), row));
      }
    }
  }
}
