package io.gameq.writer.campaign;

import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.FaultProxy;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.Trap;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** A MySQL that dies, stalls, refuses, or is used by others as well. Stateless. */
final class MySqlFaults {
  private MySqlFaults() {}

  static List<Fault> all() {
    return List.of(
        new Fault("MySQL kill -9 and restart", 1, MySqlFaults::killed),
        new Fault("MySQL SIGSTOP 8 s", 1, MySqlFaults::stopped),
        new Fault("MySQL read_only for 3 s", 1, MySqlFaults::readOnly),
        new Fault("MySQL KILL of all connections", 4, MySqlFaults::killConnections),
        new Fault("MySQL rows locked beyond the lock wait timeout", 1, MySqlFaults::rowLocks),
        new Fault("MySQL some rows locked for 15 s", 1, MySqlFaults::someRowLocks),
        new Fault("MySQL a slow trigger for 15 s", 1, MySqlFaults::slowTrigger),
        new Fault("MySQL a wrong CHECK for 10 s", 1, MySqlFaults::wrongCheck),
        new Fault("MySQL deadlocks from opposite orders", 60, MySqlFaults::deadlock),
        new Fault("MySQL max_connections reached", 1, MySqlFaults::tooManyConnections),
        new Fault("MySQL LOCK TABLES for 3 s", 1, MySqlFaults::lockTables),
        new Fault("MySQL ALTER TABLE", 2, MySqlFaults::alterTable),
        new Fault("MySQL connection cut in COMMIT", 4, MySqlFaults::cutInCommit));
  }

  private static void killed(World world, Random random) {
    world.servers.mysql().kill();
    world.servers.mysql().restart();
  }

  private static void stopped(World world, Random random) throws InterruptedException {
    Signals.stop(world.servers.mysql().pid());
    TimeUnit.SECONDS.sleep(8);
    Signals.resume(world.servers.mysql().pid());
  }

  private static void readOnly(World world, Random random) throws Exception {
    world.mysql().execute("SET GLOBAL read_only = 1");
    try {
      TimeUnit.SECONDS.sleep(3);
    } finally {
      world.mysql().execute("SET GLOBAL read_only = 0");
    }
  }

  private static void killConnections(World world, Random random) throws SQLException {
    killConnections(world.mysql());
  }

  private static void rowLocks(World world, Random random) throws Exception {
    try (Connection other = world.mysql().connect();
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      while (!lock(
          statement,
          forUpdate("item", random.nextBoolean()),
          forUpdate("pet", random.nextBoolean()),
          forUpdate("gameq_owner", random.nextBoolean()))) {
        other.rollback();
      }
      TimeUnit.SECONDS.sleep(4);
      other.rollback();
    }
  }

  /** A player and rows of others, as a tool of the game's masters does. */
  private static void someRowLocks(World world, Random random) throws Exception {
    int player = 1 + random.nextInt(CampaignNode.PLAYERS);
    try (Connection other = world.mysql().connect();
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      while (!lock(
          statement,
          "SELECT * FROM item WHERE player_id = " + player + " FOR UPDATE",
          "SELECT * FROM pet LIMIT 3 FOR UPDATE",
          "SELECT * FROM gameq_owner LIMIT 1 FOR UPDATE")) {
        other.rollback();
      }
      TimeUnit.SECONDS.sleep(15);
      other.rollback();
    }
  }

  private static void slowTrigger(World world, Random random) throws Exception {
    world
        .mysql()
        .execute(
            "CREATE TRIGGER slow_deed BEFORE INSERT ON deed FOR EACH ROW IF NEW.id % 50 = 0 THEN DO"
                + " SLEEP(6); END IF");
    TimeUnit.SECONDS.sleep(15);
    world.mysql().execute("DROP TRIGGER slow_deed");
  }

  private static void wrongCheck(World world, Random random) throws Exception {
    world
        .mysql()
        .execute( // the rows that are there pass: a MariaDB may be told not to look at them
            "SET check_constraint_checks = 0",
            "ALTER TABLE deed ADD CONSTRAINT wrong CHECK (id < 0)");
    TimeUnit.SECONDS.sleep(10);
    world.mysql().execute("ALTER TABLE deed DROP CONSTRAINT wrong");
  }

  /** False when a flush was quicker and MySQL chose this one to give way. */
  private static boolean lock(Statement statement, String... queries) throws SQLException {
    try {
      for (String query : queries) {
        read(statement, query);
      }
      return true;
    } catch (SQLException e) {
      if (e.getErrorCode() != 1213 && e.getErrorCode() != 1205) {
        throw e;
      }
      return false;
    }
  }

  private static String forUpdate(String table, boolean all) {
    return "SELECT * FROM " + table + (all ? "" : " LIMIT 20") + " FOR UPDATE";
  }

  private static void read(Statement statement, String query) throws SQLException {
    try (ResultSet rs = statement.executeQuery(query)) {
      while (rs.next()) {
        // locked now
      }
    }
  }

  /** A flush locks owners, then rows in the order of their keys: this one does it backwards. */
  private static void deadlock(World world, Random random) throws SQLException {
    try (Connection other = world.mysql().connect();
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      for (int i = 0; i < 6; i++) {
        statement.executeUpdate(
            "UPDATE item SET val = val WHERE player_id = "
                + (CampaignNode.PLAYERS - i)
                + " ORDER BY slot DESC");
      }
      read(statement, forUpdate("gameq_owner", true));
      other.rollback();
    } catch (SQLException e) {
      if (e.getErrorCode() != 1213 && e.getErrorCode() != 1205) {
        throw e;
      }
    }
  }

  private static void tooManyConnections(World world, Random random) throws Exception {
    MySqlServer server = world.mysql();
    String most = server.queryText("SELECT @@max_connections");
    List<Connection> all = new ArrayList<>();
    try {
      server.execute("SET GLOBAL max_connections = 30");
      killConnections(server);
      for (int i = 0; i < 30; i++) {
        all.add(server.connect());
      }
    } catch (SQLException e) {
      if (e.getErrorCode() != 1040) {
        throw e;
      }
    }
    try {
      TimeUnit.SECONDS.sleep(3);
    } finally {
      try (Statement statement = all.get(0).createStatement()) {
        statement.execute("SET GLOBAL max_connections = " + most);
      }
      for (Connection connection : all) {
        connection.close();
      }
    }
  }

  private static void lockTables(World world, Random random) throws Exception {
    try (Connection other = world.mysql().connect();
        Statement statement = other.createStatement()) {
      statement.execute("LOCK TABLES item WRITE, pet " + (random.nextBoolean() ? "WRITE" : "READ"));
      TimeUnit.SECONDS.sleep(3);
      statement.execute("UNLOCK TABLES");
    }
  }

  private static void alterTable(World world, Random random) throws SQLException {
    world
        .mysql()
        .execute(
            "ALTER TABLE item ADD COLUMN added_%d INT NOT NULL DEFAULT 7"
                .formatted(random.nextInt(1_000_000)));
  }

  private static void cutInCommit(World world, Random random) {
    FaultProxy mysql = world.writer(random).mysql();
    mysql.set(Trap.beforeReply(WriterFaults.COMMIT, "", random.nextInt(5), () -> {})).await();
  }

  private static void killConnections(MySqlServer server) throws SQLException {
    for (Role role : List.of(Role.NODE, Role.WRITER)) {
      server.execute("KILL HARD USER '" + CampaignMySql.login(role).user() + "'");
    }
  }
}
