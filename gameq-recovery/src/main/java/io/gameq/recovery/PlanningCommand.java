package io.gameq.recovery;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.gameq.GameQueueException;
import io.gameq.config.Password;
import io.gameq.config.Tls;
import io.gameq.healing.LeftWalReplay.Lookups;
import io.gameq.healing.LeftWalReplay.WalSet;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.Planner;
import io.gameq.healing.WalFolder;
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
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
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

  private @Nullable ServersFile file;

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
    return redisUri() != null;
  }

  private @Nullable String redisUri() {
    return withoutRedis ? null : given(redis, "redis/uri");
  }

  /** What an option says, else the file of --config. */
  private @Nullable String given(@Nullable String option, String setting) {
    ServersFile configured = file();
    return option != null || configured == null ? option : configured.text(setting);
  }

  private @Nullable ServersFile file() {
    if (file == null && config != null) {
      file = new ServersFile(config, this::environment);
    }
    return file;
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
      String uri = redisUri();
      RecoveryRedis open =
          uri == null
              ? null
              : RecoveryRedis.open(
                  redisConfig(uri), any.namespace(), any.slots(), database.terms());
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
    ServersFile configured = file();
    return configured == null ? null : configured.tls(server);
  }

  /** Of the environment, else of the file, unless an option names another user than the file's. */
  private @Nullable Password password(String variable, @Nullable String user, String section) {
    String secret = environment(variable);
    String name = environment(variable + FILE);
    if (name != null) {
      if (secret != null) {
        throw new GameQueueException(
            "set %s or %s%s, not both".formatted(variable, variable, FILE));
      }
      return Password.ofFile(Path.of(name));
    }
    if (secret != null) {
      return Password.from("environment variable " + variable, () -> secret);
    }
    ServersFile configured = file();
    return configured == null || user != null ? null : configured.password(section);
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
    if (mysql != null && mysql.matches("(?i).*[?&]password=.*|.*//[^/]*:[^/]*@.*")) {
      throw new GameQueueException(
          "--mysql carries a password, which everybody on this host can see: set "
              + MYSQL_PASSWORD
              + " instead");
    }
  }

  /** The servers as they are written on a command line. */
  final String serversAsArguments() {
    String servers = hasRedis() ? "--(config|redis|sentinel|mysql).*" : "--(config|mysql).*";
    String without = withoutRedis ? " --without-redis" : "";
    return without
        + commandLine().getCommandSpec().options().stream()
            .filter(of -> of.longestName().matches(servers) && of.getValue() != null)
            .map(of -> " " + of.longestName() + " " + quoted(of.getValue().toString()))
            .collect(Collectors.joining());
  }

  /**
   * The servers in a writer's gameq.yaml: sections {@code redis} and {@code mysql}, of which the
   * writer checks the rest. Immutable.
   */
  static final class ServersFile {
    private final Path file;
    private final JsonNode tree;
    private final UnaryOperator<@Nullable String> environment;

    /**
     * Reads it.
     *
     * @param environment what {@code ${NAME}} in a value stands for
     * @throws GameQueueException when it cannot be read, without its text, which may hold secrets
     */
    ServersFile(Path file, UnaryOperator<@Nullable String> environment) {
      this.file = file;
      this.environment = environment;
      try {
        this.tree = new YAMLMapper().readTree(Files.readString(file));
      } catch (JsonProcessingException e) {
        throw new GameQueueException(file + " is no YAML: 'gameq-writer config check' says where");
      } catch (IOException e) {
        throw new GameQueueException("%s cannot be read (%s)".formatted(file, e), e);
      }
    }

    /**
     * A setting, such as {@code redis/uri}; null: not there.
     *
     * @throws GameQueueException naming a variable that is not set
     */
    @Nullable String text(String path) {
      JsonNode value = tree.at("/" + path);
      if (!value.isValueNode() || value.isNull()) {
        return null;
      }
      return Variables.filled(value.asText(), variable -> content(path, variable));
    }

    private String content(String path, String variable) {
      String content = environment.apply(variable);
      if (content == null) {
        throw new GameQueueException(
            "%s: setting '%s' names the environment variable %s, which is not set"
                .formatted(file, path.replace('/', '.'), variable));
      }
      return content;
    }

    /** The login's password in a section, such as {@code redis/sentinel}; null: none. */
    @Nullable Password password(String section) {
      String name = text(section + "/passwordFile");
      if (name != null) {
        return Password.ofFile(Path.of(name));
      }
      String secret = text(section + "/password");
      return secret == null ? null : Password.from(file.toString(), () -> secret);
    }

    /** Whom to trust; null: the file has no such section. */
    @Nullable Tls tls(String server) {
      return tree.at("/" + server + "/tls").isMissingNode()
          ? null
          : new Tls(path(server + "/tls/caFile"), path(server + "/tls/clientFile"));
    }

    private @Nullable Path path(String setting) {
      String name = text(setting);
      return name == null ? null : Path.of(name);
    }
  }

  /**
   * Says how far a command is: on one line of a terminal that changes, else a line every few
   * seconds. One thread.
   */
  static final class ProgressLine {
    private static final long TERMINAL_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LOG_EVERY_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final int BAR = 30;

    private final PrintWriter err;
    private final boolean terminal = CommandLine.Help.Ansi.AUTO.enabled();
    private final long begunNanos = System.nanoTime();
    private long lastNanos = begunNanos;
    private int width;

    ProgressLine(PrintWriter err) {
      this.err = err;
    }

    /** A step that cannot be measured. */
    void step(String text) {
      if (terminal) {
        show(text + " ...");
      }
    }

    /** So many of all are done. */
    void rows(String verb, long done, long all) {
      long now = System.nanoTime();
      if (now - lastNanos < (terminal ? TERMINAL_EVERY_NANOS : LOG_EVERY_NANOS)) {
        return;
      }
      lastNanos = now;
      double seconds = (now - begunNanos) / 1e9;
      int full = all == 0 ? BAR : (int) Math.min(BAR, BAR * done / all);
      show(
          String.format(
              Locale.ROOT,
              "%s [%s%s] %,d of %,d rows, %,.0f rows/s",
              verb,
              "#".repeat(full),
              " ".repeat(BAR - full),
              done,
              all,
              done / seconds));
    }

    private void show(String text) {
      if (terminal) {
        err.print("\r" + text + " ".repeat(Math.max(0, width - text.length())));
        width = text.length();
      } else {
        err.println(text);
      }
      err.flush();
    }

    /** Leaves the line free for what is printed next. */
    void end() {
      if (terminal && width > 0) {
        err.print("\r" + " ".repeat(width) + "\r");
        err.flush();
        width = 0;
      }
    }
  }
}
