package io.gameq.recovery;

import io.gameq.GameQueueException;
import io.gameq.recovery.mysql.RecoveryDatabase;
import io.gameq.recovery.plan.Lookups;
import io.gameq.recovery.redis.RecoveryRedis;
import io.gameq.recovery.wal.WalFolder;
import io.gameq.recovery.wal.WalSet;
import io.gameq.wal.WalRecord;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Where the servers are; mix it in. Passwords come from the environment, never from arguments. */
final class ServerOptions {
  static final String REDIS_PASSWORD = "GAMEQ_REDIS_PASSWORD";
  static final String MYSQL_PASSWORD = "GAMEQ_MYSQL_PASSWORD";

  @Option(
      names = "--redis",
      paramLabel = "URI",
      description =
          "redis://host:port, rediss://... or redis-sentinel://host:port,host:port#primary; its"
              + " password is taken from the environment variable "
              + REDIS_PASSWORD
              + ".")
  private @Nullable String redis;

  @Option(
      names = "--mysql",
      required = true,
      paramLabel = "URL",
      description =
          "jdbc:mysql://host:port/database; its password is taken from the environment variable "
              + MYSQL_PASSWORD
              + ".")
  private String mysql = "";

  @Option(names = "--mysql-user", required = true, paramLabel = "USER", description = "MySQL user.")
  private String mysqlUser = "";

  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec command;

  /** The servers of a command; closes both. */
  record Servers(Lookups lookups) implements AutoCloseable {
    @Override
    public void close() {
      RecoveryRedis redis = lookups.redis();
      if (redis != null) {
        redis.close();
      }
      lookups.database().close();
    }
  }

  boolean hasRedis() {
    return redis != null;
  }

  /**
   * Connects, and makes sure that the WALs are of this database.
   *
   * @throws GameQueueException naming what is wrong and the remedy
   */
  Servers open(WalSet wals) {
    requireNoPassword();
    wals.readHeaders();
    String password = environment(MYSQL_PASSWORD);
    RecoveryDatabase database =
        RecoveryDatabase.open(mysql, mysqlUser, password == null ? "" : password);
    try {
      for (WalFolder folder : wals.folders()) {
        WalRecord.Header header = folder.header();
        database.requireSame(folder.directory().toString(), header.namespace(), header.slots());
      }
      WalRecord.Header any = wals.folders().get(0).header();
      return new Servers(
          new Lookups(
              database,
              redis == null
                  ? null
                  : RecoveryRedis.open(
                      redis,
                      environment(REDIS_PASSWORD),
                      any.namespace(),
                      any.slots(),
                      database.terms())));
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
  }

  private @Nullable String environment(String name) {
    return ((RecoveryMain) Objects.requireNonNull(command).root().userObject()).environment(name);
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

  /** The same options as they are written on a command line. */
  String asArguments() {
    return (redis == null ? "" : " --redis " + quoted(redis))
        + " --mysql "
        + quoted(mysql)
        + " --mysql-user "
        + quoted(mysqlUser);
  }

  /** One word for a shell. */
  static String quoted(String word) {
    return word.matches("[A-Za-z0-9_./:=,@%+-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
