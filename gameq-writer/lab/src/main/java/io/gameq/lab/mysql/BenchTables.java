package io.gameq.lab.mysql;

import io.gameq.lab.workload.Workload;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The tables of a workload, in a database that had none before. One thread. */
public final class BenchTables implements AutoCloseable {
  /** Rows that one statement ages: it ends long before the connection counts as silent. */
  private static final int ROWS_AGED_AT_ONCE = 100_000;

  private static final String CREATE =
      """
      CREATE TABLE %s (player_id BIGINT NOT NULL, slot INT NOT NULL, seq BIGINT NOT NULL,
        payload VARBINARY(%s) NOT NULL, PRIMARY KEY (player_id, slot)) ENGINE = InnoDB
      """;

  private static final Set<String> OURS = Set.of(Workload.TABLE, Workload.PEER_TABLE);

  private final ScratchDatabase database;
  private final Workload.Shape shape;
  private final Table table;

  /**
   * Makes them.
   *
   * @throws io.gameq.GameQueueException when the server refuses; what was made is dropped
   */
  public BenchTables(ScratchDatabase database, Workload.Shape shape, String namespace, int slots) {
    this.database = database;
    this.shape = shape;
    try {
      table = make(namespace, slots);
    } catch (RuntimeException e) {
      drop(database);
      throw e;
    }
  }

  private int payloadBytes() {
    return Math.max(1, shape.rowBytes() - Workload.FIXED_BYTES);
  }

  private Table make(String namespace, int slots) {
    database.run(
        List.of(
            CREATE.formatted(Workload.TABLE, payloadBytes()),
            CREATE.formatted(Workload.PEER_TABLE, payloadBytes())));
    Catalog catalog =
        database.migrate(
            namespace, slots, List.of(new TableSpec(Workload.TABLE, "player", "player_id")));
    return catalog.table(Workload.TABLE);
  }

  /** The managed one, which actions write through gameq. */
  public Table table() {
    return table;
  }

  /** Makes all rows older than anything that comes, so that rounds repeat each other. */
  public void age() {
    int players = Math.max(1, ROWS_AGED_AT_ONCE / shape.rowsPerPlayer());
    List<String> statements = new ArrayList<>();
    for (int from = 0; from < shape.players(); from += players) {
      statements.add(
          "UPDATE %s SET seq = 0, gq_version = 0 WHERE player_id >= %s AND player_id < %s"
              .formatted(Workload.TABLE, from, from + players));
    }
    database.run(statements);
  }

  /** Drops the workload's tables and gameq's own. */
  @Override
  public void close() {
    drop(database);
  }

  /** Drops what was made, as far as it is there. */
  private static void drop(ScratchDatabase database) {
    List<String> statements = new ArrayList<>();
    database.facts().tables().keySet().stream()
        .filter(name -> OURS.contains(name) || name.startsWith("gameq_"))
        .forEach(name -> statements.add("DROP TABLE " + JdbcValues.quoted(name)));
    database.run(statements);
  }
}
