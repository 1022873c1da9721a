package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.change.VersionClock;
import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySqlErrors.MySqlText;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.mysql.flush.GuardedTransaction;
import io.gameq.mysql.flush.GuardedWrites;
import io.gameq.mysql.flush.RowBisection.RowRefusal;
import io.gameq.mysql.flush.RowBisection.StatementLimits;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.SchemaSnapshot;
import io.gameq.mysql.schema.SchemaSnapshot.ForeignKeyFacts;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.terminal.Shown;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Deletes all rows of an owner in one transaction, as guarded as a flush: each leaves a tombstone
 * above every version that a WAL may have of it. Used by one thread; killed anywhere, all rows are
 * there or none.
 */
public final class OwnerDeletion {
  /** A lock is waited for innodb_lock_wait_timeout each time. */
  private static final int MOST_TRIES = 3;

  /** Of what stands against it. */
  private static final int MOST_NAMED = 5;

  private final MySql mysql;
  private final GuardedWrites writes;
  private final Catalog catalog;
  private final Collection<ForeignKeyFacts> foreignKeys;

  /**
   * What was deleted, or why nothing was.
   *
   * @param rows how many, by table; none when something stands against it
   * @param obstacles each with its remedy; no values of rows
   */
  public record DeletionResult(Map<String, Long> rows, List<String> obstacles) {

    private static DeletionResult refused(List<String> obstacles) {
      return new DeletionResult(Map.of(), obstacles);
    }
  }

  /**
   * Reads the catalogue and the foreign keys.
   *
   * @throws MySqlException when MySQL does not answer
   */
  public OwnerDeletion(MySql mysql) {
    this.mysql = mysql;
    this.writes = GuardedWrites.on(mysql);
    this.catalog = CatalogReader.read(mysql);
    this.foreignKeys = mysql.ask(handle -> SchemaSnapshot.read(handle).foreignKeys());
  }

  /** The managed tables, as they were read. */
  public Catalog catalog() {
    return catalog;
  }

  /**
   * How many rows an owner has in MySQL, by table; tables without any are missing.
   *
   * @throws GameQueueException when the id does not fit a table's owner column
   */
  public Map<String, Long> count(OwnerId owner) {
    return mysql.ask(
        handle -> {
          Map<String, Long> rows = new TreeMap<>();
          for (Table table : catalog.ownedBy(owner.kind())) {
            int found = keys(handle.getConnection(), table, owner, "").size();
            if (found > 0) {
              rows.put(table.name(), (long) found);
            }
          }
          return rows;
        });
  }

  /**
   * Deletes an owner's rows, all or none. Redis must hold nothing that is to be flushed of it.
   *
   * @param session that has to count alone
   * @throws MySqlException when MySQL does not answer, or refuses for another reason than rows;
   *     whether it passed is then not known, and may be asked by {@link #count}
   */
  public DeletionResult delete(OwnerId owner, SessionId session, VersionClock versions) {
    try {
      return GuardedTransaction.run(
          mysql,
          writes,
          GuardedTransaction.Retry.ofConflicts(MOST_TRIES),
          () -> {},
          transaction -> delete(transaction, owner, session, versions));
    } catch (SQLException e) {
      if (ErrorKind.of(e) != ErrorKind.TRY_AGAIN) {
        throw new MySqlException("MySQL does not delete its rows: " + MySqlText.of(e), e);
      }
      return DeletionResult.refused(List.of("its rows are locked in MySQL: " + MySqlText.of(e)));
    }
  }

  private DeletionResult delete(
      GuardedTransaction transaction, OwnerId owner, SessionId session, VersionClock versions)
      throws SQLException {
    transaction.lock(Set.of(owner));
    if (!transaction.counts(owner, session)) {
      return DeletionResult.refused(List.of("somebody opened it meanwhile"));
    }
    Connection connection = transaction.connection();
    Map<RowKey, Long> keys = new LinkedHashMap<>();
    for (Table table : catalog.ownedBy(owner.kind())) {
      keys.putAll(keys(connection, table, owner, " FOR UPDATE"));
    }
    List<String> obstacles = halvesOfMoves(connection, owner);
    obstacles.addAll(rowsThatRefer(connection, owner));
    if (!obstacles.isEmpty()) {
      return DeletionResult.refused(obstacles);
    }
    versions.observe(keys.values().stream().reduce(remembered(connection, owner), Math::max));
    long version = versions.next(1);
    List<RowChange> deletes = new ArrayList<>();
    for (RowKey key : keys.keySet()) {
      RowImage image = new RowImage(key.table(), RowOp.DELETE, version, key.parts());
      deletes.add(new RowChange(owner, key, image, new byte[0]));
    }
    List<RowRefusal> refusals =
        transaction.write(deletes, Set.of(ErrorKind.ROW, ErrorKind.CURABLE), StatementLimits.NONE);
    if (!refusals.isEmpty()) {
      return DeletionResult.refused(
          refusals.stream()
              .limit(MOST_NAMED)
              .map(of -> Shown.line("%s: %s", of.row().key(), MySqlText.of(of.error())))
              .toList());
    }
    transaction.commit();
    return new DeletionResult(
        keys.keySet().stream()
            .collect(
                Collectors.groupingBy(
                    key -> key.table().name(), TreeMap::new, Collectors.counting())),
        List.of());
  }

  /** MySQL takes a text with spaces at its end for the same: that is another owner. */
  private static Map<RowKey, Long> keys(
      Connection connection, Table table, OwnerId owner, String locking) throws SQLException {
    Map<RowKey, Long> found = new LinkedHashMap<>();
    Sql.select(
        connection,
        "SELECT gq_version, %s, %s FROM %s WHERE %s = ?%s"
            .formatted(
                JdbcValues.selectExpression(table.ownerColumn()),
                JdbcValues.selectExpressions(table.keyColumns()),
                JdbcValues.quoted(table.name()),
                JdbcValues.quoted(table.ownerColumn().name()),
                locking),
        rs -> {
          Object its = JdbcValues.read(rs, 2, table.ownerColumn());
          if (its != null && table.ownerOfValue(its).equals(owner)) {
            found.put(JdbcValues.readKey(rs, 3, table), rs.getLong(1));
          }
        },
        JdbcValues.parameter(table.ownerColumn(), table.ownerColumnValue(owner)));
    return found;
  }

  /** A discard of any version of the row would leave its delete out. */
  private static long remembered(Connection connection, OwnerId owner) throws SQLException {
    return Sql.list(
            connection,
            "SELECT GREATEST((SELECT COALESCE(MAX(version), 0) FROM gameq_tombstone WHERE owner ="
                + " ?), (SELECT COALESCE(MAX(version), 0) FROM gameq_discard WHERE owner = ?))",
            rs -> rs.getLong(1),
            owner.encoded(),
            owner.encoded())
        .get(0);
  }

  /** A row that is between two owners would be lost to the other one. */
  private static List<String> halvesOfMoves(Connection connection, OwnerId owner)
      throws SQLException {
    List<String> found =
        new ArrayList<>(
            Sql.list(
                connection,
                "SELECT CONCAT(table_name, ':', row_key) FROM gameq_handover WHERE owner = ? LIMIT "
                    + MOST_NAMED,
                rs ->
                    Shown.line(
                        "row %s is between it and another owner: once that one's rows are written,"
                            + " erase it",
                        rs.getString(1)),
                owner.encoded()));
    Sql.select(
        connection,
        "SELECT id, image FROM gameq_dead_letter WHERE owner = ? ORDER BY id",
        rs -> {
          if (isMoved(rs.getBytes(2)) && found.size() < MOST_NAMED) {
            found.add(
                "dead letter %s is half of a move between owners: retry or discard it first"
                    .formatted(rs.getLong(1)));
          }
        },
        owner.encoded());
    return found;
  }

  private static boolean isMoved(byte[] image) {
    try {
      return !RowHeader.handovers(image).isEmpty();
    } catch (GameQueueException e) { // damaged: nobody ever writes it
      return false;
    }
  }

  /** Rows of other owners that a cascade would take along, or that forbid the delete. */
  private List<String> rowsThatRefer(Connection connection, OwnerId owner) throws SQLException {
    List<String> found = new ArrayList<>();
    for (ForeignKeyFacts key : foreignKeys) {
      if (!catalog.manages(key.child()) || !catalog.manages(key.parent())) {
        continue;
      }
      Table parent = catalog.table(key.parent());
      if (!parent.ownerKind().equals(owner.kind())) {
        continue;
      }
      Table child = catalog.table(key.child());
      boolean isSameKind = child.ownerKind().equals(owner.kind());
      List<@Nullable Object> arguments = new ArrayList<>();
      for (Table of : isSameKind ? List.of(parent, child) : List.of(parent)) {
        arguments.add(JdbcValues.parameter(of.ownerColumn(), of.ownerColumnValue(owner)));
      }
      Sql.select(
          connection,
          "SELECT %s, %s FROM %s WHERE (%s) IN (SELECT %s FROM %s WHERE %s = ?)%s LIMIT %s"
              .formatted(
                  JdbcValues.selectExpression(child.ownerColumn()),
                  JdbcValues.selectExpressions(child.keyColumns()),
                  JdbcValues.quoted(child.name()),
                  quoted(key.columns()),
                  quoted(key.parentColumns()),
                  JdbcValues.quoted(parent.name()),
                  JdbcValues.quoted(parent.ownerColumn().name()),
                  isSameKind
                      ? " AND NOT (" + JdbcValues.quoted(child.ownerColumn().name()) + " <=> ?)"
                      : "",
                  MOST_NAMED),
          rs -> {
            Object its = JdbcValues.read(rs, 1, child.ownerColumn());
            found.add(
                Shown.line(
                    "row %s of %s refers to its rows (foreign key %s): delete or move it first",
                    JdbcValues.readKey(rs, 2, child),
                    its == null ? "nobody" : child.ownerOfValue(its),
                    key.name()));
          },
          arguments.toArray());
    }
    return found;
  }

  private static String quoted(List<String> columns) {
    return columns.stream().map(JdbcValues::quoted).collect(Collectors.joining(", "));
  }
}
