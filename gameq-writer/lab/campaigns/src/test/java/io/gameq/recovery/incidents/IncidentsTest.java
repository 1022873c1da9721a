package io.gameq.recovery.incidents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.rights.MySqlRights.Role;
import io.gameq.rights.RedisRights;
import io.gameq.servers.DockerServers;
import io.gameq.servers.LeastRedisUsers;
import io.gameq.servers.ProcessClock;
import io.gameq.writer.campaign.CampaignFiles;
import io.gameq.writer.campaign.CampaignLength;
import io.gameq.writer.campaign.ReportTable;
import io.lettuce.core.KillArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** See the package's page. {@code -Dgameq.incidents.atOnce=N}: so many at a time, 3. */
@Tag("campaign")
@Execution(ExecutionMode.CONCURRENT)
class IncidentsTest {
  private static final Path TARGET = Path.of("target");
  private static final Path DIRECTORY = TARGET.resolve("incidents");
  private static final Semaphore AT_ONCE =
      new Semaphore(Integer.getInteger("gameq.incidents.atOnce", 3));
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private static final ReportTable SEEN =
      new ReportTable(
          List.of(
              new ReportTable.Column("incident", "incident"),
              new ReportTable.Column("alerts", "alerts"),
              new ReportTable.Column("ended by", "end"),
              new ReportTable.Column("acknowledged", "acknowledged"),
              new ReportTable.Column("lost", "lost")));

  private static PrometheusProcess prometheus;

  /** Breaks and mends, waiting for the alerts between; says what ended it. */
  private interface Incident {
    String happens(IncidentWorld world) throws Exception;
  }

  @BeforeAll
  static void start() throws IOException {
    Assumptions.assumeTrue(PrometheusProcess.isInstalled(), "skipped: needs prometheus");
    Assumptions.assumeTrue(
        !"embedded".equals(System.getenv("GAMEQ_TEST_SERVERS")) && DockerServers.available(),
        "skipped: needs Docker");
    CampaignFiles.delete(DIRECTORY);
    prometheus = new PrometheusProcess(DIRECTORY.resolve("prometheus"));
  }

  @AfterAll
  static void report() throws IOException {
    if (prometheus != null) {
      prometheus.close();
      System.out.println(SEEN.markdown());
      SEEN.write(TARGET, "incidents");
    }
  }

  /** Of a short campaign: what a writer, a node and MySQL alone tell of. */
  private static final Set<String> SHORT =
      Set.of("redis emptied", "maxmemory", "redis emptied, a node dead");

  /** Runs one; nothing acknowledged may be lost, and no other page may go out. */
  private static void incident(String name, Set<String> pages, Incident incident) throws Exception {
    Assumptions.assumeTrue(!CampaignLength.isShort() || SHORT.contains(name), "short");
    AT_ONCE.acquire();
    String namespace = name.replaceAll("[^a-z]+", "-");
    try (IncidentWorld world =
        new IncidentWorld(prometheus, DIRECTORY.resolve(namespace), namespace)) {
      world.start();
      world.goOn(20);
      world.begins();
      String end = incident.happens(world);
      for (int node = 0; node < IncidentWorld.NODES; node++) {
        if (world.node(node).isAlive()) {
          world.closeNode(node);
        }
      }
      long missing = world.settle(PATIENCE);
      IncidentWorld.Ledger ledger = world.ledger();
      synchronized (SEEN) {
        SEEN.add(
            name,
            world.said.isEmpty()
                ? "none"
                : world.said.entrySet().stream()
                    .map(alert -> alert.getKey() + ", " + alert.getValue())
                    .collect(Collectors.joining("; ")),
            end,
            ledger.deeds().size(),
            missing + " missing, " + ledger.conflicts() + " conflicts");
        System.out.println(name + ": " + world.said);
      }
      assertEquals(0, missing, "acknowledged, and not in MySQL");
      assertEquals(0, ledger.conflicts());
      assertTrue(ledger.deeds().size() > 500, "nobody played");
      assertEquals(
          Set.of(),
          world.said.entrySet().stream()
              .filter(alert -> alert.getValue().startsWith("critical"))
              .map(Map.Entry::getKey)
              .filter(alert -> !pages.contains(alert))
              .collect(Collectors.toSet()),
          "pages that nobody needs");
    } finally {
      AT_ONCE.release();
    }
  }

  @Test
  void mysqlIsReadOnly() throws Exception {
    incident(
        "read-only",
        Set.of("GameqMySqlIsAway", "GameqWriterIsNotReady", "GameqRowsAreOld", "GameqChangesWait"),
        world -> {
          world.servers.mysql().execute("SET GLOBAL super_read_only = 1");
          world.awaitAlert("GameqMySqlIsAway");
          world
              .servers
              .mysql()
              .execute("SET GLOBAL super_read_only = 0", "SET GLOBAL read_only = 0");
          return "read_only = 0, by hand; writers by themselves";
        });
  }

  @Test
  void mysqlHasNoDiskLeft() throws Exception {
    incident(
        "disk full",
        Set.of(
            "GameqNothingIsWritten",
            "GameqMySqlIsAway",
            "GameqWriterIsNotReady",
            "GameqRowsAreOld",
            "GameqChangesWait"),
        world -> {
          world.servers.fillDisk();
          world.await(
              "told",
              () ->
                  world.hasFired(List.of("GameqNothingIsWritten"))
                      || world.hasFired(List.of("GameqMySqlIsAway")));
          world.servers.freeDisk();
          return "space, by hand; MySQL tries again within a minute, writers by themselves";
        });
  }

  @Test
  void redisIsEmptied() throws Exception {
    incident(
        "redis emptied",
        Set.of(),
        world -> {
          world.servers.redis(0, redis -> redis.flushall());
          world.awaitAlert("GameqRedisWasEmptied");
          world.goOn(30);
          return "nodes put back what it lost, by themselves";
        });
  }

  @Test
  void redisIsEmptiedAndNodeIsGone() throws Exception {
    incident(
        "redis emptied, a node dead",
        Set.of("GameqNodeIsGone", "GameqChangesWait", "GameqRowsAreOld"),
        world -> {
          world.command("pause", "all", "--reason", "rows are to be in Redis alone");
          world.goOn(5);
          world.node(1).kill();
          world.servers.redis(0, redis -> redis.flushall());
          world.command("resume", "all");
          world.awaitAlert("GameqNodeIsGone");
          Path elsewhere = Files.createDirectories(world.directory.resolve("another-host"));
          try (var wals = Files.list(world.directory.resolve("wal"))) {
            for (Path wal :
                wals.filter(w -> w.getFileName().toString().startsWith("n2")).toList()) {
              Files.move(wal, elsewhere.resolve(wal.getFileName()));
            }
          }
          assertEquals(
              1, world.recovery(elsewhere, "plan"), "nothing was lost: this tests nothing");
          world.recovery(elsewhere, "replay", "--execute", "--yes");
          return "gameq-recovery replay --execute over the WAL of the dead node";
        });
  }

  @Test
  void columnIsDropped() throws Exception {
    incident(
        "column dropped",
        Set.of("GameqRowsAreOld", "GameqChangesWait"),
        world -> {
          world.database.execute("ALTER TABLE item DROP COLUMN note");
          world.awaitAlert("GameqTableIsParked");
          world.database.execute(
              "ALTER TABLE item ADD COLUMN note VARCHAR(40) NOT NULL DEFAULT ''");
          world.goOn(10);
          world.closeNode(0);
          world.closeNode(1);
          world.settle(PATIENCE);
          world.recovery(
              world.directory.resolve("wal"),
              "replay",
              "--execute",
              "--column",
              "item.note",
              "--yes");
          assertEquals(
              "0",
              world.database.queryText("SELECT COUNT(*) FROM item WHERE note <> CONCAT('of ', n)"));
          return "ADD COLUMN, and gameq-recovery replay --column for what MySQL had held";
        });
  }

  @Test
  void oneOwnerIsLocked() throws Exception {
    incident(
        "a player locked",
        Set.of("GameqRowsAreOld", "GameqChangesWait"),
        world -> {
          try (Connection other = world.database.connect();
              Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT * FROM item WHERE player_id = 101 FOR UPDATE");
            world.awaitAlert("GameqRowsAreOld");
            assertEquals(
                "1",
                world.database.queryText(
                    "SELECT COUNT(DISTINCT player_id) < 3 FROM item"
                        + " WHERE gq_version >> 16 < (UNIX_TIMESTAMP() - 60) * 1000"),
                "others wait too");
            other.rollback();
          }
          return "the end of its transaction; others were written all the time";
        });
  }

  @Test
  void writerIsKilledAgainAndAgain() throws Exception {
    incident(
        "writer killed again and again",
        Set.of(),
        world -> {
          // One that is seldom up when Prometheus asks is told as down instead.
          for (int kills = 0; kills < 40 && !isWriterTold(world); kills++) {
            world.goOn(10);
            world.writer(1).kill();
            world.startWriter(1);
          }
          assertTrue(isWriterTold(world), () -> "told only " + world.said);
          return "the cause that kills it; the other writer took over";
        });
  }

  private static boolean isWriterTold(IncidentWorld world) {
    return world.hasFired(List.of("GameqWriterRestarts"))
        || world.hasFired(List.of("GameqWriterDown"));
  }

  @Test
  void redisIsFull() throws Exception {
    incident(
        "maxmemory",
        Set.of("GameqRedisIsFull", "GameqCommitsFail"),
        world -> {
          world.servers.redis(0, redis -> redis.configSet("maxmemory", "2mb"));
          world.awaitAlert("GameqRedisIsFull", "GameqCommitsFail");
          world.servers.redis(0, redis -> redis.configSet("maxmemory", "200mb"));
          return "maxmemory, by hand; nodes by themselves";
        });
  }

  @Test
  void nodesClockIsWrong() throws Exception {
    ProcessClock.assumeInstalled("clock");
    incident(
        "a node's clock an hour ahead",
        Set.of(),
        world -> {
          setClock(world, Duration.ofHours(1));
          world.awaitAlert("GameqClocksAreApart");
          setClock(world, Duration.ZERO);
          return "the clock set right; commits went on";
        });
  }

  private static void setClock(IncidentWorld world, Duration ahead) {
    world.clock.set(
        ahead,
        () -> {
          world.node(0).tell("clock");
          return Long.parseLong(world.node(0).awaitLine("clock ").substring(6));
        });
  }

  @Test
  void backupIsRestored() throws Exception {
    incident(
        "restore of a backup",
        Set.of(
            "GameqMySqlIsAway",
            "GameqWriterIsNotReady",
            "GameqRowsAreOld",
            "GameqNothingIsWritten",
            "GameqChangesWait",
            "GameqNodeIsGone"),
        world -> {
          String name = world.database.queryText("SELECT DATABASE()");
          world.servers.backUp(name);
          world.goOn(30);
          world.servers.mysql().execute("DROP DATABASE " + name);
          world.goOn(30);
          world.node(0).kill();
          world.node(1).kill();
          world.awaitAlert("GameqMySqlIsAway");
          world.servers.mysql().execute("CREATE DATABASE " + name + " CHARACTER SET utf8mb4");
          world.servers.restore(name);
          world.recovery(
              world.directory.resolve("wal"), "replay", "--execute", "--include-live", "--yes");
          world.startNode(0);
          world.startNode(1);
          world.awaitNodes();
          return "the backup, gameq-recovery replay --include-live, then nodes again";
        });
  }

  @Test
  void everythingIsRestartedInTurn() throws Exception {
    incident(
        "rolling restart",
        Set.of(),
        world -> {
          for (int i = 0; i < IncidentWorld.WRITERS; i++) {
            world.stopWriter(i);
            world.startWriter(i);
            world.goOn(20);
          }
          for (int i = 0; i < IncidentWorld.NODES; i++) {
            world.closeNode(i);
            world.startNode(i);
            world.node(i).awaitLine("ready");
          }
          world.goOn(150); // longer than any rule that might tell of it
          assertEquals(Set.of(), world.said.keySet());
          return "nothing to end";
        });
  }

  @Test
  void gameMovesToAnotherRedis() throws Exception {
    incident(
        "new redis",
        Set.of(),
        world -> {
          int next = world.servers.startRedis();
          world.makeRedisUsers(next);
          world.servers.redis(next, redis -> redis.replicaof(world.servers.redisAddress(0), 6379));
          world.await(
              "in sync",
              () ->
                  world
                      .servers
                      .redis(next, redis -> redis.info("replication"))
                      .contains("master_link_status:up"));
          world.closeNode(0); // stop logins
          world.closeNode(1);
          world.servers.redis(next, redis -> redis.replicaofNoOne());
          world.useRedis(next);
          for (int i = 0; i < IncidentWorld.WRITERS; i++) {
            world.stopWriter(i);
            world.startWriter(i);
          }
          for (int i = 0; i < IncidentWorld.NODES; i++) {
            world.startNode(i);
          }
          world.awaitNodes();
          world.awaitAlert("GameqRedisWasReplaced");
          return "REPLICAOF NO ONE and the new address; the game was closed meanwhile";
        });
  }

  @Test
  void passwordsChange() throws Exception {
    incident(
        "rotation",
        Set.of(),
        world -> {
          for (Role role : List.of(Role.NODE, Role.WRITER)) {
            String redisUser = RedisRights.user(world.namespace, role);
            String mysqlUser = world.database.as(role).user();
            world.servers.redis(
                0, redis -> run(redis, "ACL SETUSER " + redisUser + " >new-" + role));
            world
                .servers
                .mysql()
                .execute(
                    "ALTER USER '%s'@'%%' IDENTIFIED BY 'new-%s' RETAIN CURRENT PASSWORD"
                        .formatted(mysqlUser, role));
            IncidentWorld.write(world.redisPassword(role), "new-" + role);
            IncidentWorld.write(world.mysqlPassword(role), "new-" + role);
            world.servers.redis(
                0,
                redis ->
                    run(
                        redis,
                        "ACL SETUSER %s <%s".formatted(redisUser, LeastRedisUsers.PASSWORD)));
            world
                .servers
                .mysql()
                .execute("ALTER USER '%s'@'%%' DISCARD OLD PASSWORD".formatted(mysqlUser));
          }
          // As a server that was started again: who has not the new ones does not come back.
          world.servers.redis(
              0, redis -> redis.clientKill(KillArgs.Builder.typeNormal().skipme(true)));
          world.goOn(150);
          return "nothing to end; claims whose answer was cut off come back when their lease runs"
              + " out";
        });
  }

  private static boolean run(RedisCommands<String, String> redis, String command) {
    LeastRedisUsers.run(redis, command);
    return true;
  }
}
