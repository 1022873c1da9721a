package io.gameq.recovery.mysql;

import io.gameq.GameQueueException;
import io.gameq.agent.RateLimit;
import io.gameq.healing.WalFolder;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.MySqlServerCheck;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.DurableRows;
import io.gameq.mysql.tables.TermTable;
import io.gameq.rows.RowCodec;
import io.gameq.term.Terms;
import io.gameq.wal.WalRecord;
import java.util.List;
import java.util.Objects;

/** Recovery's connections to the game's database, whose schema and settings were checked. */
public final class RecoveryDatabase implements AutoCloseable {
  private static final int CONNECTIONS = 4;

  private final MySql mysql;
  private final DurableRows rows;

  private RecoveryDatabase(MySql mysql) {
    this.mysql = mysql;
    MySqlServerCheck.of(mysql).requireUsable();
    Settings.requireSchema(mysql);
    this.rows = new DurableRows(mysql, CatalogReader.read(mysql));
  }

  /**
   * Connects and reads the catalogue.
   *
   * @throws GameQueueException when MySQL is away, refuses the login, or lacks gameq's own tables
   */
  public static RecoveryDatabase open(MySqlConfig config) {
    MySql mysql = MySqlPool.open(config.withPoolSize(CONNECTIONS), "recovery");
    try {
      return new RecoveryDatabase(mysql);
    } catch (RuntimeException e) {
      mysql.close();
      throw e;
    }
  }

  /**
   * Refuses a WAL of another game, or of a clone.
   *
   * @throws GameQueueException when the database is another one, or has another namespace or number
   *     of slots
   */
  public void requireSame(WalFolder wal) {
    WalRecord.Header header = wal.header();
    String namespace = header.namespace();
    int slots = header.slots();
    String itsNamespace = Settings.read(mysql, "namespace");
    String itsSlots = Settings.read(mysql, "slots");
    if (itsNamespace == null || itsSlots == null) {
      throw new GameQueueException(
          "the database has no namespace and slots in gameq_setting: no node has used it yet; is it"
              + " the right one?");
    }
    if (!namespace.equals(itsNamespace) || !Integer.toString(slots).equals(itsSlots)) {
      throw new GameQueueException(
          ("WAL %s is of namespace %s with %s slots, the database is of namespace %s with"
                  + " %s slots: give the database that the node used")
              .formatted(wal.directory(), namespace, slots, itsNamespace, itsSlots));
    }
    String itself = Objects.requireNonNullElse(Settings.read(mysql, Settings.DATABASE), "");
    if (!header.isOf(namespace, slots, itself)) {
      throw new GameQueueException(
          ("WAL %s was written for database %s, and this is %s, perhaps a clone of it, or it of"
               + " this one: give the database that the node used. Where this one takes its place,"
               + " as a restored backup does, run: gameq-writer schema new-identity --as %s")
              .formatted(wal.directory(), header.database(), itself, header.database()));
    }
  }

  /**
   * Remembers in the audit log that something is done, before it is done.
   *
   * @throws GameQueueException when it cannot: then it is not to be done
   */
  public void audit(String action, String target, String detail) {
    try {
      AuditTable.add(mysql, AuditTable.Actor.here(), action, target, detail);
    } catch (GameQueueException e) {
      throw new GameQueueException(
          "the audit log cannot be written, which needs INSERT on gameq_audit ('gameq-writer"
              + " security mysql' prints all rights): nothing was done",
          e);
    }
  }

  /** What it holds. */
  public DurableRows rows() {
    return rows;
  }

  /** Which Redis primary counts. */
  public Terms terms() {
    return new TermTable(mysql);
  }

  /** Takes rows that go around Redis; {@code limit}: of rows a second. */
  public MySqlTarget target(RowCodec codec, RateLimit limit) {
    return new MySqlTarget(mysql, rows, codec, limit);
  }

  /** Values of single columns, each {@code table.column}; see {@link ColumnRestore}. */
  public ColumnRestore columns(List<String> names, RateLimit limit) {
    return new ColumnRestore(mysql, rows.catalog(), names, limit);
  }

  @Override
  public void close() {
    mysql.close();
  }
}
