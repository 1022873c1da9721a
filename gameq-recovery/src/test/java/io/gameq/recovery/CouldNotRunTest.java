package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.recovery.RecoveryGame.Item;
import io.gameq.recovery.RecoveryGame.Run;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.LeastRedisUsers;
import io.gameq.terminal.ExitCodes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Exit code 2, and what it says then. */
@Execution(ExecutionMode.CONCURRENT)
class CouldNotRunTest extends RecoveryFixture {
  @BeforeEach
  void start() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      player.put(new Item(1, 1, 1, 1));
      player.commit().awaitQueued(LONG);
    }
    game.loseRedis();
  }

  private static void assertRefused(Run run, String says) {
    assertEquals(ExitCodes.COULD_NOT_RUN, run.exitCode(), run::toString);
    assertTrue(run.says(says), run::toString);
  }

  @Test
  void aWrongPassword() {
    List<String> args = new ArrayList<>(List.of("plan"));
    args.addAll(game.servers());
    args.set(args.indexOf("--mysql-user") + 1, "somebody");
    args.add(game.wal.toString());
    Run run = game.main(args, "wrong-secret");
    assertRefused(run, "refuses the login of user 'somebody'");
    assertFalse(run.says("wrong-secret"));
  }

  @Test
  void aPasswordMayComeFromAFileThatIsReadForEachConnection() throws Exception {
    Path file =
        Files.writeString(
            directory.resolve("secret"), game.database.as(Role.RECOVERY).password() + "\n");
    Map<String, String> environment =
        new HashMap<>(
            Map.of(
                "GAMEQ_MYSQL_PASSWORD_FILE",
                file.toString(),
                "GAMEQ_REDIS_PASSWORD",
                LeastRedisUsers.PASSWORD));
    List<String> args = new ArrayList<>(List.of("plan"));
    args.addAll(game.servers());
    args.add(game.wal.toString());
    assertEquals(ExitCodes.FOUND_SOMETHING, game.main(args, environment::get).exitCode());
    environment.put("GAMEQ_MYSQL_PASSWORD", "x");
    assertRefused(
        game.main(args, environment::get),
        "set GAMEQ_MYSQL_PASSWORD or GAMEQ_MYSQL_PASSWORD_FILE, not both");
    environment.remove("GAMEQ_MYSQL_PASSWORD");
    Files.delete(file);
    assertRefused(game.main(args, environment::get), "cannot be read");
  }

  @Test
  void theServersMayComeFromAWritersConfiguration() throws Exception {
    Path secret =
        Files.writeString(
            directory.resolve("secret"), game.database.as(Role.RECOVERY).password() + "\n");
    List<String> servers = game.servers();
    Path yaml =
        Files.writeString(
            directory.resolve("gameq.yaml"),
            """
            namespace: any
            redis: { uri: "%s", user: "%s", password: "${REDIS_SECRET}" }
            mysql: { url: "%s", user: "%s", passwordFile: "%s" }
            writer: { workers: 3 }
            """
                .formatted(servers.get(1), servers.get(3), servers.get(5), servers.get(7), secret));
    Map<String, String> environment = new HashMap<>();
    List<String> args =
        new ArrayList<>(List.of("plan", "--config", yaml.toString(), game.wal.toString()));
    assertRefused(game.main(args, environment::get), "setting 'redis.password' names the");
    environment.put("REDIS_SECRET", LeastRedisUsers.PASSWORD);
    Run run = game.main(args, environment::get);
    assertEquals(ExitCodes.FOUND_SOMETHING, run.exitCode(), run::toString);
    assertTrue(run.says("LOST: replay puts them back"), run::toString);
    assertTrue(run.says("replay --execute --config " + yaml), run::toString);
    args.add("--without-redis");
    Run without = game.main(args, environment::get);
    assertTrue(without.says("--without-redis --config " + yaml), without::toString);
    args.addAll(List.of("--mysql-user", servers.get(7)));
    assertRefused(game.main(args, environment::get), "refuses the login");
    environment.put("GAMEQ_MYSQL_PASSWORD", game.database.as(Role.RECOVERY).password());
    assertEquals(ExitCodes.FOUND_SOMETHING, game.main(args, environment::get).exitCode());
    assertRefused(game.main(List.of("plan", game.wal.toString())), "Give --config");
  }

  @Test
  void aPasswordOnTheCommandLine() {
    List<String> args = new ArrayList<>(List.of("plan"));
    args.addAll(game.servers());
    args.set(args.indexOf("--redis") + 1, "redis://:s3cret@127.0.0.1:1");
    args.add(game.wal.toString());
    Run run = game.main(args);
    assertRefused(run, "set GAMEQ_REDIS_PASSWORD instead");
    assertFalse(run.says("s3cret"));
  }

  @Test
  void redisAway() {
    List<String> args = new ArrayList<>(List.of("replay", "--execute"));
    args.addAll(game.servers());
    args.set(args.indexOf("--redis") + 1, "redis://127.0.0.1:1");
    args.add(game.wal.toString());
    assertRefused(game.main(args), "cannot connect to Redis at redis://127.0.0.1:1");
  }

  @Test
  void mysqlAway() {
    List<String> args = new ArrayList<>(List.of("plan"));
    args.addAll(game.servers());
    args.set(args.indexOf("--mysql") + 1, "jdbc:mysql://127.0.0.1:1/game");
    args.add(game.wal.toString());
    assertRefused(game.main(args), "does not answer");
  }

  @Test
  void noWal() throws Exception {
    assertRefused(
        game.run("plan", List.of(Files.createDirectory(directory.resolve("empty")).toString())),
        "is no WAL and holds none");
    assertRefused(
        game.run("inspect", List.of(directory.resolve("none").toString())), "does not exist");
  }

  @Test
  void anUnknownOwner() {
    assertRefused(game.run("plan --owner player:77"), "hold no row of player:77");
    assertRefused(game.run("verify --owner player77"), "kind:key");
  }

  @Test
  void anotherDatabase() throws Exception {
    game.database
        .server()
        .execute("UPDATE gameq_setting SET value = 'other' WHERE name = 'namespace'");
    assertRefused(game.run("replay --execute"), "the database is of namespace other");
    game.database.server().execute("DELETE FROM gameq_setting WHERE name = 'namespace'");
    assertRefused(game.run("plan"), "is it the right one?");
  }

  @Test
  void wrongUsage() {
    assertRefused(game.run("plan", List.of()), "Missing required parameter: 'WAL'");
    assertRefused(game.run("replay --execute --no-redis"), "--into mysql when Redis is gone");
    assertRefused(game.run("replay --rate -1"), "--rate is -1");
    assertRefused(game.main(List.of()), "Missing required subcommand");
    assertTrue(game.main(List.of("replay", "--help")).says("1   differences, damage"));
  }
}
