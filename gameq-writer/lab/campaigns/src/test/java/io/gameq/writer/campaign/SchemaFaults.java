package io.gameq.writer.campaign;

import java.sql.SQLException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Tables are altered under load, then nodes and writers are restarted one by one, while owners go
 * back and forth between nodes that know the change and nodes that do not. Stateless.
 */
final class SchemaFaults {
  private static final int PLAY_MILLIS = 700;

  private SchemaFaults() {}

  static List<Fault> all() {
    return List.of(
        new Fault("schema: columns added, rolling restart", 1, SchemaFaults::added),
        new Fault(
            "schema: columns added, widened, grown, dropped, rolling restarts",
            1,
            SchemaFaults::everything));
  }

  private static void added(World world, Random random) throws Exception {
    alter(world, LateColumns.ADD);
    restartOneByOne(world, random);
  }

  private static void everything(World world, Random random) throws Exception {
    added(world, random);
    alter(world, LateColumns.WIDEN);
    restartOneByOne(world, random);
    for (String table : CampaignTables.NAMES) {
      world.mysql().execute(LateColumns.announced(table));
    }
    alter(world, LateColumns.DROP);
    restartOneByOne(world, random);
  }

  private static void alter(World world, String how) throws SQLException {
    for (String table : CampaignTables.NAMES) {
      world.mysql().execute("ALTER TABLE " + table + " " + how);
    }
  }

  private static void restartOneByOne(World world, Random random) throws InterruptedException {
    int first = random.nextInt(2);
    for (int i : new int[] {first, 1 - first}) {
      steal(world, i);
      world.nodes.get(i).restart();
      steal(world, 1 - i);
      steal(world, i);
      world.writers.get(i).restart();
    }
  }

  private static void steal(World world, int node) throws InterruptedException {
    world.nodes.get(node).process().tell("steal");
    TimeUnit.MILLISECONDS.sleep(PLAY_MILLIS);
  }
}
