package io.gameq.recovery;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.gameq.GameQueueException;
import io.gameq.config.Password;
import io.gameq.config.Tls;
import io.gameq.healing.Lookups;
import io.gameq.healing.WalFolder;
import io.gameq.healing.WalFolder.WalSet;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.recovery.mysql.RecoveryDatabase;
import io.gameq.recovery.redis.RecoveryRedis;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisConnector.RedisLogin;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LookupScript.ReplayScript;
import io.gameq.terminal.Variables;
import io.gameq.wal.WalRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Which servers, as options or as a writer's gameq.yaml. Passwords come from the environment or
 * from files, never from arguments.
 */
final class ServerOptions {
  static final String REDIS_PASSWORD = "GAMEQ_REDIS_PASSWORD";
  private static final String SENTINEL_PASSWORD = "GAMEQ_SENTINEL_PASSWORD";
  static final String MYSQL_PASSWORD = "GAMEQ_MYSQL_PASSWORD";

  /** Behind a variable's name: it names a file in its place, which is read for each connection. */
  private static final String FILE = "_FILE";

  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec spec;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "A writer's gameq.yaml: its servers, users and passwords, where no option and no"
              + " environment variable gives others.")
  private @Nullable Path config;

  @Option(
      names = "--without-redis",
      description = "Redis is gone for good: it is not asked, though --config names it.")
  private boolean withoutRedis;

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
      paramLabel = "URL",
      description =
          "jdbc:mysql://host:port/database; its password is taken from the environment variable "
              + MYSQL_PASSWORD
              + ", or from the file that "
              + MYSQL_PASSWORD
              + FILE
              + " names, which is read for each connection; so are the others.")
  private @Nullable String mysql;

  @Option(names = "--mysql-user", paramLabel = "USER", description = "MySQL user.")
  private @Nullable String mysqlUser;

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

  private @Nullable JsonNode configured;

  /** Where passwords come from; the command line's root has it. */
  interface Environment {
    /** The environment variable of this name, null when it is not set. */
    @Nullable String variable(String name);
  }

  /**
   * The WALs and the servers of a command; closes the servers.
   *
   * @param leavesOut whether WALs are missing in {@code wals}, of which nothing is known
   * @param redis null when it is gone for good
   */
  record RecoveryServers(
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

  boolean hasRedis() {
    return redisUri() != null;
  }

  private @Nullable String redisUri() {
    return withoutRedis ? null : given(redis, "redis/uri");
  }

  /**
   * Connects, and makes sure that the WALs are of this database.
   *
   * @param all of these one to which nothing was written is left out: it must not hold up all
   *     others
   * @throws GameQueueException naming what is wrong and the remedy
   */
  RecoveryServers open(WalSet all) {
    requireNoPassword("--redis", redis, "[a-z-]+://[^/]*:[^/]*@.*|[a-z-]+://[^:/@]+@.*");
    requireNoPassword("--mysql", mysql, "(?i).*[?&]password=.*|.*//[^/]*:[^/]*@.*");
    WalSet wals = all.notEmpty();
    if (wals.folders().isEmpty()) {
      throw all.folders().get(0).noHeader();
    }
    for (WalFolder folder : all.folders()) {
      if (folder.isEmpty()) {
        spec().commandLine().getErr().println(folder.noHeader().getMessage() + ": it is left out");
      }
    }
    RecoveryDatabase database = RecoveryDatabase.open(mysqlConfig());
    try {
      wals.folders().forEach(database::requireSame);
      WalRecord.Header any = wals.folders().get(0).header();
      SlotKeys[] slots = SlotKeys.all(any.namespace(), any.slots());
      String uri = redisUri();
      RecoveryRedis open =
          uri == null
              ? null
              : RecoveryRedis.open(
                  redisConfig(uri), any.namespace(), any.slots(), database.terms());
      Lookups lookups = new Lookups(database.rows(), open == null ? null : open.redis(), slots);
      boolean leavesOut = wals.folders().size() < all.folders().size();
      return new RecoveryServers(wals, leavesOut, database, open, lookups);
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
  }

  private static void requireNoPassword(String option, @Nullable String value, String pattern) {
    if (value != null && value.matches(pattern)) {
      throw new GameQueueException(
          "%s carries a password, which everybody on this host can see: set %s instead"
              .formatted(option, option.equals("--redis") ? REDIS_PASSWORD : MYSQL_PASSWORD));
    }
  }

  private MySqlConfig mysqlConfig() {
    String url = given(mysql, "mysql/url");
    String user = given(mysqlUser, "mysql/user");
    if (url == null || user == null) {
      throw new GameQueueException(
          "which MySQL? Give --config with a writer's gameq.yaml, or --mysql and --mysql-user");
    }
    Password password = password(MYSQL_PASSWORD, mysqlUser, "mysql");
    return new MySqlConfig(
        url,
        user,
        password == null ? Password.of("") : password,
        1,
        tls(mysqlCa, mysqlClient, "mysql"));
  }

  private RedisConfig redisConfig(String uri) {
    return new RedisConfig(
        uri,
        new RedisLogin(
            given(redisUser, "redis/user"), password(REDIS_PASSWORD, redisUser, "redis")),
        new RedisLogin(
            given(sentinelUser, "redis/sentinel/user"),
            password(SENTINEL_PASSWORD, sentinelUser, "redis/sentinel")),
        tls(redisCa, redisClient, "redis"),
        ReplayScript.TIMEOUT_MILLIS);
  }

  private @Nullable Tls tls(@Nullable Path ca, @Nullable Path client, String server) {
    if (ca != null || client != null) {
      return new Tls(ca, client);
    }
    return configured().at("/" + server + "/tls").isMissingNode()
        ? null
        : new Tls(path(server + "/tls/caFile"), path(server + "/tls/clientFile"));
  }

  private @Nullable Path path(String setting) {
    String name = setting(setting);
    return name == null ? null : Path.of(name);
  }

  /** Of the environment, else of the file, unless an option names another user than the file's. */
  private @Nullable Password password(String variable, @Nullable String user, String section) {
    String secret = environment(variable);
    String name = environment(variable + FILE);
    String source = "environment variable " + variable;
    if (name != null && secret != null) {
      throw new GameQueueException("set %s or %s%s, not both".formatted(variable, variable, FILE));
    }
    if (name == null && secret == null && user == null) {
      name = setting(section + "/passwordFile");
      secret = name == null ? setting(section + "/password") : null;
      source = String.valueOf(config);
    }
    if (name != null) {
      return Password.ofFile(Path.of(name));
    }
    String content = secret;
    return content == null ? null : Password.from(source, () -> content);
  }

  private @Nullable String environment(String name) {
    return ((Environment) spec().root().userObject()).variable(name);
  }

  private CommandSpec spec() {
    return Objects.requireNonNull(spec);
  }

  /** What an option says, else the file of --config. */
  private @Nullable String given(@Nullable String option, String setting) {
    configured(); // a file that cannot be read is told in any case
    return option != null ? option : setting(setting);
  }

  /**
   * A setting of --config, such as {@code redis/uri}; null: not there.
   *
   * @throws GameQueueException naming a variable that is not set
   */
  private @Nullable String setting(String path) {
    JsonNode value = configured().at("/" + path);
    return !value.isValueNode() || value.isNull()
        ? null
        : Variables.filled(value.asText(), variable -> content(path, variable));
  }

  private String content(String path, String variable) {
    String content = environment(variable);
    if (content == null) {
      throw new GameQueueException(
          "%s: setting '%s' names the environment variable %s, which is not set"
              .formatted(config, path.replace('/', '.'), variable));
    }
    return content;
  }

  /** The file of --config, of which the writer checks the rest; errors tell nothing of its text. */
  private JsonNode configured() {
    if (configured == null) {
      try {
        configured =
            config == null
                ? MissingNode.getInstance()
                : new YAMLMapper().readTree(Files.readString(config));
      } catch (JsonProcessingException e) {
        throw new GameQueueException(
            config + " is no YAML: 'gameq-writer config check' says where");
      } catch (IOException e) {
        throw new GameQueueException("%s cannot be read (%s)".formatted(config, e), e);
      }
    }
    return configured;
  }

  /** One word for a shell. */
  static String quoted(String word) {
    return word.matches("[A-Za-z0-9_./:=,@%+-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }

  /** As they are written on a command line. */
  String asArguments() {
    String servers = hasRedis() ? "--(config|redis|sentinel|mysql).*" : "--(config|mysql).*";
    return (withoutRedis ? " --without-redis" : "")
        + spec().options().stream()
            .filter(of -> of.longestName().matches(servers) && of.getValue() != null)
            .map(of -> " " + of.longestName() + " " + quoted(of.getValue().toString()))
            .collect(Collectors.joining());
  }
}
