package io.gameq.mysql.tables;

import io.gameq.mysql.GroupedCalls;
import io.gameq.mysql.JdbcValues;
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
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/**
 * Step 3 of open, and every read: owners from one fresh snapshot of the primary, see {@link
 * OwnerReader#read}. Thread-safe.
 */
final class OwnerSnapshots implements GroupedCalls.Server<OwnerSnapshots.Wanted, Boolean> {
  private final Jdbi jdbi;

  OwnerSnapshots(Jdbi jdbi) {
    this.jdbi = jdbi;
  }

  /** An owner that is to be read, and set open where a session is given. */
  record Wanted(
      OwnerId owner,
      @Nullable SessionId session,
      long term,
      long adopted,
      List<Table> tables,
      Collection<RowKey> keys,
      Sink sink) {}

  /** Up to three times when others hold locks, each time told anew. */
  @Override
  public Boolean one(Wanted wanted) {
    return MySqlErrors.mysqlAgain(
        () -> {
          wanted.sink.begin();
          Statements all = begun();
          SessionId session = wanted.session;
          if (session != null) { // none of what follows where it is not the newest
            OwnerTable.addMarkOpen(all, wanted.owner, session, wanted.adopted, count -> count == 1);
          }
          addReads(all, wanted);
          TermTable.addHold(all, wanted.term); // last: a node that stalls holds up its owner only
          return run(all);
        });
  }

  /** In one transaction, which ends as a whole. */
  @Override
  public List<Boolean> many(List<Wanted> wanted) {
    Boolean[] found = new Boolean[wanted.size()];
    Arrays.fill(found, true);
    Statements all = begun();
    for (int i : OwnerTable.inLockOrder(wanted.stream().map(Wanted::owner).toList())) {
      Wanted one = wanted.get(i);
      SessionId session = one.session;
      if (session != null) {
        OwnerTable.addMarkOpen(
            all,
            one.owner,
            session,
            one.adopted,
            count -> {
              found[i] = count == 1;
              return true;
            });
      }
    }
    for (Wanted one : wanted) {
      one.sink.begin();
      addReads(all, one);
    }
    wanted.stream().map(Wanted::term).distinct().forEach(term -> TermTable.addHold(all, term));
    run(all);
    return List.of(found);
  }

  private static Statements begun() {
    // Of this transaction only: to change the connection's takes more round trips.
    return new Statements()
        .add("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        .add("START TRANSACTION");
  }

  private boolean run(Statements all) {
    return MySqlErrors.mysql(
        () -> jdbi.withHandle(handle -> all.runAndCommit(handle.getConnection())));
  }

  private static void addReads(Statements all, Wanted wanted) {
    Sink sink = wanted.sink;
    OwnerId owner = wanted.owner;
    Map<Table, List<RowKey>> keysOf =
        wanted.keys.stream().collect(Collectors.groupingBy(RowKey::table));
    keysOf.forEach((table, of) -> DiscardTable.add(all, table, of, owner, sink::discard));
    wanted.tables.forEach(table -> addOwned(all, owner, table, sink));
    keysOf.forEach(
        (table, of) -> {
          addByKey(all, table, of, sink);
          TombstoneTable.add(all, table, of, sink::tombstone);
        });
    addTombstones(all, owner, sink);
    if (wanted.session != null) {
      DeadLetterTable.addOfOwner(all, owner, sink::deadLetter);
    }
  }

  /** The owner's newest tombstone or discard. */
  private static void addTombstones(Statements all, OwnerId owner, Sink sink) {
    all.addSelect(
        "SELECT GREATEST((SELECT COALESCE(MAX(version), 0) FROM gameq_tombstone WHERE owner = ?),"
            + " (SELECT COALESCE(MAX(version), 0) FROM gameq_discard WHERE owner = ? AND session ="
            + " ''))",
        (statement, at) -> {
          statement.setString(at, owner.encoded());
          statement.setString(at + 1, owner.encoded());
          return at + 2;
        },
        rs -> {
          rs.next();
          sink.tombstoneVersion(rs.getLong(1));
        });
  }

  private static void addOwned(Statements all, OwnerId owner, Table table, Sink sink) {
    all.addSelect(
        select(table) + " WHERE " + JdbcValues.quoted(table.ownerColumn().name()) + " = ?",
        (statement, at) -> {
          JdbcValues.bind(statement, at, table.ownerColumn(), table.ownerColumnValue(owner));
          return at + 1;
        },
        rs -> readRows(rs, table, sink));
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
          rs -> readRows(rs, table, sink));
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

  private static void readRows(ResultSet rs, Table table, Sink sink) throws SQLException {
    List<Column> columns = table.columns();
    while (rs.next()) {
      @Nullable Object[] row = new @Nullable Object[columns.size()];
      for (int i = 0; i < row.length; i++) {
        row[i] = JdbcValues.read(rs, i + 2, columns.get(i));
      }
      sink.row(new RowImage(table, RowOp.PUT, rs.getLong(1), row));
    }
  }
}
