package io.gameq.mysql.tables;

import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.owner.OwnerId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Looks what others have locked: MySQL gives the same error for a locked row and a locked table.
 * Stateless.
 */
public final class Locks {
  private static final int KEYS_PER_STATEMENT = 256;

  private static final String SKIP_LOCKED = " FOR UPDATE SKIP LOCKED";

  /** Each costs lock_wait_timeout to find. */
  private static final int MOST_TABLES = 2;

  private Locks() {}

  /**
   * What somebody has locked.
   *
   * @param everything nobody can write anything, as under FLUSH TABLES WITH READ LOCK
   * @param tables as a whole, as by an ALTER TABLE that copies them; not all that there may be
   * @param owners whose sessions are locked; looked for only where no table is, as are rows
   * @param rows that exist
   */
  public record Found(
      boolean everything, Set<String> tables, Set<OwnerId> owners, Set<RowKey> rows) {
    static final Found NOTHING = new Found(false, Set.of(), Set.of(), Set.of());
  }

  /** Looks for locks on these owners and rows; finds nothing when MySQL does not say. */
  public static Found look(MySql mysql, Collection<OwnerId> owners, Collection<RowKey> keys) {
    try (Connection connection = mysql.connection()) {
      if (isLocked(connection, "gameq_owner")) {
        return new Found(true, Set.of(), Set.of(), Set.of());
      }
      Set<String> tables = lockedTables(connection, Sql.byTable(keys).keySet());
      if (!tables.isEmpty()) {
        return new Found(false, tables, Set.of(), Set.of());
      }
      connection.setAutoCommit(false);
      try {
        return new Found(
            false,
            tables,
            lockedOf(owners, (some, locking) -> OwnerTable.existing(connection, some, locking)),
            lockedOf(
                keys,
                (some, locking) -> OwnerReader.rowVersions(connection, some, locking).keySet()));
      } finally {
        connection.rollback();
      }
    } catch (SQLException e) { // the next flush meets it, too
      return Found.NOTHING;
    }
  }

  private static Set<String> lockedTables(Connection connection, Collection<Table> tables)
      throws SQLException {
    Set<String> names = new TreeSet<>();
    tables.forEach(
        table -> {
          names.add(table.name());
          names.addAll(table.foreignKeys().parents()); // an insert looks there, too
        });
    Set<String> locked = new TreeSet<>();
    for (String name : names) {
      if (locked.size() < MOST_TABLES && isLocked(connection, name)) {
        locked.add(name);
      }
    }
    return locked;
  }

  /**
   * Takes the lock on the table that writing needs, and none on a row. A parent may be in another
   * database.
   */
  private static boolean isLocked(Connection connection, String table) throws SQLException {
    String name =
        Arrays.stream(table.split("\\.", 2))
            .map(JdbcValues::quoted)
            .collect(Collectors.joining("."));
    try (Statement statement = connection.createStatement()) {
      statement.executeQuery("SELECT 1 FROM " + name + " WHERE FALSE FOR UPDATE").close();
      return false;
    } catch (SQLException e) {
      return ErrorKind.of(e) == ErrorKind.TRY_AGAIN; // else it may not be ours to look at
    }
  }

  /** Which of these MySQL has, with a locking clause or an empty one. */
  private interface Existing<T> {
    Set<T> of(Collection<T> some, String locking) throws SQLException;
  }

  private static <T> Set<T> lockedOf(Collection<T> all, Existing<T> existing) throws SQLException {
    Set<T> locked = new HashSet<>();
    for (List<T> some : Sql.chunks(List.copyOf(all), KEYS_PER_STATEMENT)) {
      Set<T> there = existing.of(some, "");
      locked.addAll(there);
      locked.removeAll(existing.of(there, SKIP_LOCKED));
    }
    return locked;
  }
}
