package io.gameq.recovery;

import io.gameq.GameQueueException;
import io.gameq.Password;
import io.gameq.Tls;
import io.gameq.healing.Lookups;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.Planner;
import io.gameq.healing.WalFolder;
import io.gameq.healing.WalSet;
import io.gameq.mysql.MySqlConfig;
import io.gameq.recovery.mysql.RecoveryDatabase;
import io.gameq.recovery.redis.RecoveryRedis;
import io.gameq.redis.RedisConfig;
import io.gameq.redis.RedisLogin;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.ReplayScript;
import io.gameq.wal.WalRecord;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * A command that plans what became of the rows of WALs, and so asks the servers. Passwords come
 * from the environment or from files, never from arguments.
 */
abstract class PlanningCommand extends WalCommand {
  static final String REDIS_PASSWORD = "GAMEQ_REDIS_PASSWORD";
  static final String SENTINEL_PASSWORD = "GAMEQ_SENTINEL_PASSWORD";
  static final String MYSQL_PASSWORD = "GAMEQ_MYSQL_PASSWORD";

  /** Behind a variable's name: it names a file in its place, which is read for each connection. */
  static final String FILE = "_FILE";

  @Option(
      names = "--redis",
      paramLabel = "URI",
      description =
          "redis://host:port or redis-sentinel://host:port,host:port#primary, with rediss for TLS;"
              + " its password is taken from the environment variable "
              + REDIS_PASSWORD
              + ", that of its Sentinels from "
              + SENTINEL_PASSWORD
              + ".")
  private @Nullable String redis;

  @Option(names = "--redis-user", paramLabel = "USER", description = "Redis user.")
  private @Nullable String redisUser;

  @Option(
      names = "--sentinel-user",
      paramLabel = "USER",
      description = "User of the Sentinels themselves.")
  private @Nullable String sentinelUser;

  @Option(
      names = "--redis-ca",
      paramLabel = "FILE",
      description = "PEM file of the CAs to trust over TLS (default: those of the JVM).")
  private @Nullable Path redisCa;

  @Option(
      names = "--redis-client",
      paramLabel = "FILE",
      description = "PEM file with a private key and certificates to show Redis.")
  private @Nullable Path redisClient;

  @Option(
      names = "--mysql",
      required = true,
      paramLabel = "URL",
      description =
          "jdbc:mysql://host:port/database; its password is taken from the environment variable "
              + MYSQL_PASSWORD
              + ", or from the file that "
              + MYSQL_PASSWORD
              + FILE
              + " names, which is read for each connection; so are the others.")
  private String mysql = "";

  @Option(names = "--mysql-user", required = true, paramLabel = "USER", description = "MySQL user.")
  private String mysqlUser = "";

  @Option(
      names = "--mysql-ca",
      paramLabel = "FILE",
      description = "PEM file of the CAs to trust over TLS, which is used for certain then.")
  private @Nullable Path mysqlCa;

  @Option(
      names = "--mysql-client",
      paramLabel = "FILE",
      description = "PEM file with a private key and certificates to show MySQL; with --mysql-ca.")
  private @Nullable Path mysqlClient;

  /**
   * The WALs and the servers of a command; closes the servers.
   *
   * @param leavesOut whether WALs are missing in {@code wals}, of which nothing is known
   * @param redis null when it is gone for good
   */
  record Servers(
      WalSet wals,
      boolean leavesOut,
      RecoveryDatabase database,
      @Nullable RecoveryRedis redis,
      Lookups lookups)
      implements AutoCloseable {
    @Override
    public void close() {
      if (redis != null) {
        redis.close();
      }
      database.close();
    }
  }

  @Override
  public Integer call() {
    ProgressLine progress = new ProgressLine(commandLine().getErr());
    try (Servers open = open(openWals())) {
      return call(open, progress);
    }
  }

  abstract int call(Servers open, ProgressLine progress);

  /** Plans all WALs; {@code sink} sees the rows too. */
  final Plan plan(
      Servers open, ProgressLine progress, Planner.Options options, Consumer<PlannedRow> sink) {
    Plan plan = new Plan(open, options, progress);
    plan.planner()
        .plan(
            row -> {
              plan.row(row);
              sink.accept(row);
            },
            group -> {});
    progress.end();
    requireFound(plan);
    return plan;
  }

  /** Refuses owners of whom no WAL holds anything: they are misspelt, or the WAL is another. */
  final void requireFound(Plan plan) {
    if (!owners.isEmpty() && plan.all() == 0) {
      throw new GameQueueException(
          "these WALs hold no row of " + String.join(", ", owners) + ": is the owner right?");
    }
  }

  final boolean hasRedis() {
    return redis != null;
  }

  /**
   * Connects, and makes sure that the WALs are of this database.
   *
   * @throws GameQueueException naming what is wrong and the remedy
   */
  private Servers open(WalSet all) {
    requireNoPassword();
    all.readHeaders();
    WalSet wals = notEmpty(all);
    RecoveryDatabase database = RecoveryDatabase.open(mysqlConfig());
    try {
      for (WalFolder folder : wals.folders()) {
        database.requireSame(folder.directory().toString(), folder.header());
      }
      WalRecord.Header any = wals.folders().get(0).header();
      RecoveryRedis open =
          redis == null
              ? null
              : RecoveryRedis.open(
                  redisConfig(redis), any.namespace(), any.slots(), database.terms());
      return new Servers(
          wals,
          wals.folders().size() < all.folders().size(),
          database,
          open,
          new Lookups(
              database.rows(),
              open == null ? null : open.redis(),
              SlotKeys.all(any.namespace(), any.slots())));
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
  }

  /** A folder to which nothing was written must not hold up all others. */
  private WalSet notEmpty(WalSet all) {
    WalSet wals = all.notEmpty();
    if (wals.folders().isEmpty()) {
      throw all.folders().get(0).noHeader();
    }
    for (WalFolder folder : all.folders()) {
      if (folder.isEmpty()) {
        commandLine().getErr().println(folder.noHeader().getMessage() + ": it is left out");
      }
    }
    return wals;
  }

  private MySqlConfig mysqlConfig() {
    Password password = password(MYSQL_PASSWORD);
    return new MySqlConfig(
        mysql,
        mysqlUser,
        password == null ? Password.of("") : password,
        1,
        mysqlCa == null && mysqlClient == null ? null : new Tls(mysqlCa, mysqlClient));
  }

  private RedisConfig redisConfig(String uri) {
    return new RedisConfig(
        uri,
        new RedisLogin(redisUser, password(REDIS_PASSWORD)),
        new RedisLogin(sentinelUser, password(SENTINEL_PASSWORD)),
        redisCa == null && redisClient == null ? null : new Tls(redisCa, redisClient),
        ReplayScript.TIMEOUT_MILLIS);
  }

  private @Nullable Password password(String variable) {
    String secret = environment(variable);
    String file = environment(variable + FILE);
    if (file != null) {
      if (secret != null) {
        throw new GameQueueException(
            "set %s or %s%s, not both".formatted(variable, variable, FILE));
      }
      return Password.ofFile(Path.of(file));
    }
    return secret == null ? null : Password.from("environment variable " + variable, () -> secret);
  }

  private @Nullable String environment(String name) {
    return ((RecoveryMain) commandLine().getCommandSpec().root().userObject()).environment(name);
  }

  private void requireNoPassword() {
    if (redis != null && redis.matches("[a-z-]+://[^/]*:[^/]*@.*|[a-z-]+://[^:/@]+@.*")) {
      throw new GameQueueException(
          "--redis carries a password, which everybody on this host can see: set "
              + REDIS_PASSWORD
              + " instead");
    }
    if (mysql.matches("(?i).*[?&]password=.*|.*//[^/]*:[^/]*@.*")) {
      throw new GameQueueException(
          "--mysql carries a password, which everybody on this host can see: set "
              + MYSQL_PASSWORD
              + " instead");
    }
  }

  /** The servers as they are written on a command line. */
  final String serversAsArguments() {
    String servers = redis == null ? "--mysql.*" : "--(redis|sentinel|mysql).*";
    return commandLine().getCommandSpec().options().stream()
        .filter(of -> of.longestName().matches(servers) && of.getValue() != null)
        .map(of -> " " + of.longestName() + " " + quoted(of.getValue().toString()))
        .collect(Collectors.joining());
  }
}
