package io.gameq.mysql.tables;

import io.gameq.GameQueueException;
import io.gameq.mysql.GroupedCalls;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlErrors;
import io.gameq.mysql.Sql;
import io.gameq.mysql.Statements;
import io.gameq.mysql.tables.OwnerReader.Sink;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.Column;
import io.gameq.rows.RowImage;
import io.gameq.rows.RowKey;
import io.gameq.rows.RowOp;
import io.gameq.rows.Table;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Step 3 of open, and every read: owners from one fresh snapshot of the primary, see {@link
 * OwnerReader#read}. Thread-safe.
 */
final class OwnerSnapshots implements GroupedCalls.Server<OwnerSnapshots.Wanted, Boolean> {
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
      one.tables.forEach(table -> ofTables.computeIfAbsent(table, t -> new ArrayList<>()).add(one));
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
