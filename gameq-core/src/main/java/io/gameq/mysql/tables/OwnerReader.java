package io.gameq.mysql.tables;

import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlErrors;
import io.gameq.mysql.MySqlText;
import io.gameq.mysql.Sql;
import io.gameq.mysql.Statements;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.Column;
import io.gameq.rows.RowImage;
import io.gameq.rows.RowKey;
import io.gameq.rows.RowOp;
import io.gameq.rows.Table;
import io.gameq.term.Term;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Step 3 of open, and every read: what MySQL holds of an owner, and of rows that Redis holds for
 * it, from one fresh snapshot of the primary. Thread-safe.
 */
public final class OwnerReader {
  private static final Logger LOG = LoggerFactory.getLogger(OwnerReader.class);

  /** Keeps a statement's placeholders and the optimizer's range memory small. */
  private static final int KEYS_PER_STATEMENT = 500;

  private final Jdbi jdbi;

  public OwnerReader(MySql mysql) {
    this.jdbi = mysql.jdbi();
  }

  /** Takes what is found. */
  public interface Sink {
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
   * it now. When a session is given, checks first that it is still the newest and sets it open, in
   * the same transaction: before, or the session before it could flush what this read has missed;
   * together, so that an open takes no more round trips and commits than it must.
   *
   * @param tables those of the owner's kind
   * @param keys rows that Redis holds for the owner
   * @return false when a newer session was opened meanwhile
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
   * @throws io.gameq.term.TermMovedException when another primary counts: the session is not set
   *     open
   */
  public boolean read(
      OwnerId owner,
      @Nullable SessionId session,
      long term,
      long adopted,
      List<Table> tables,
      Collection<RowKey> keys,
      Sink sink) {
    return MySqlErrors.mysql(
        () ->
            jdbi.withHandle(
                handle ->
                    readSnapshot(
                        handle.getConnection(),
                        owner,
                        session,
                        term,
                        adopted,
                        tables,
                        keys,
                        sink)));
  }

  /** In two round trips, whatever the number of tables. */
  private static boolean readSnapshot(
      Connection connection,
      OwnerId owner,
      @Nullable SessionId session,
      long term,
      long adopted,
      List<Table> tables,
      Collection<RowKey> keys,
      Sink sink)
      throws SQLException {
    Statements all = new Statements();
    // Of this transaction only: to change the connection's takes more round trips.
    all.add("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").add("START TRANSACTION");
    if (session != null) {
      OwnerTable.addMarkOpen(all, owner, session, adopted);
    }
    addReads(all, owner, tables, keys, sink);
    if (session != null) {
      DeadLetterTable.addOfOwner(all, owner, sink::deadLetter);
    }
    TermTable.addHold(all, term); // last: a node that stalls holds up its owner only
    boolean isDone = false;
    try {
      if (all.run(connection)) {
        execute(connection, "COMMIT");
        isDone = true;
      }
      return isDone;
    } finally {
      if (!isDone) {
        rollBack(connection);
      }
    }
  }

  /** Where that fails the connection broke, and the pool has seen it. */
  private static void rollBack(Connection connection) {
    try {
      execute(connection, "ROLLBACK");
    } catch (SQLException e) {
      LOG.debug("not rolled back: {}", MySqlText.of(e));
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static void addReads(
      Statements all, OwnerId owner, List<Table> tables, Collection<RowKey> keys, Sink sink) {
    Map<Table, List<RowKey>> keysOf = keys.stream().collect(Collectors.groupingBy(RowKey::table));
    keysOf.forEach((table, of) -> DiscardTable.add(all, table, of, owner, sink::discard));
    tables.forEach(table -> addOwned(all, owner, table, sink));
    keysOf.forEach(
        (table, of) -> {
          addByKey(all, table, of, sink);
          TombstoneTable.add(all, table, of, sink::tombstone);
        });
    addTombstones(all, owner, sink);
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
    for (List<RowKey> some : Sql.chunks(keys, KEYS_PER_STATEMENT)) {
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

  /**
   * The versions in which rows were refused and set aside, of each owner that put them; the others
   * are missing.
   */
  public Map<OwnerId, Map<RowKey, Long>> setAside(Collection<RowKey> keys) {
    return MySqlErrors.mysql(
        () -> jdbi.withHandle(handle -> setAside(handle.getConnection(), keys)));
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
    return MySqlErrors.mysqlAgain(
        () ->
            jdbi.inTransaction(
                handle -> {
                  SessionId open = OwnerTable.lockOpen(handle, owner);
                  Connection connection = handle.getConnection();
                  return new Settled(
                      open,
                      versions(connection, keys),
                      setAside(connection, keys).getOrDefault(owner, Map.of()));
                }));
  }

  /**
   * The version that MySQL holds of each row, deleted rows by their tombstone; rows it knows
   * nothing of are missing.
   */
  public Map<RowKey, Long> versions(Collection<RowKey> keys) {
    return MySqlErrors.mysql(
        () -> jdbi.withHandle(handle -> versions(handle.getConnection(), keys)));
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

  public static Map<RowKey, Long> rowVersions(
      Connection connection, Table table, Collection<RowKey> keys) throws SQLException {
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
              + Sql.keyIn(table, some.size());
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
}
