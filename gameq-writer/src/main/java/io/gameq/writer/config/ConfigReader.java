package io.gameq.writer.config;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.gameq.GameQueueConfig;
import io.gameq.GameQueueException;
import io.gameq.Password;
import io.gameq.Tls;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.schema.CatalogReader.TableSpec;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisConnector.RedisLogin;
import io.gameq.redis.script.ClaimScript.Bounds;
import io.gameq.writer.config.AccessToken.Role;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads a {@link WriterConfig} from YAML and checks every setting. Stateless. */
public final class ConfigReader {
  /** Kubernetes kills what has not stopped by itself after 30 s, systemd after 90 s. */
  private static final int DEFAULT_DRAIN_SECONDS = 20;

  private static final int MAX_SLOTS = 1024;

  /** A claim is bounded, since a script that has written cannot be stopped. */
  private static final int MAX_BATCH = 10_000;

  private static final int MAX_TOMBSTONE_DAYS = 3_650;

  /** An owner is never split: with fewer, one of them may take minutes of a ceiling. */
  private static final int LEAST_ROWS_PER_SECOND = 100;

  /** Beyond what any MySQL takes. */
  private static final int MAX_ROWS_PER_SECOND = 10_000_000;

  private ConfigReader() {}

  /**
   * Reads a file; {@code ${NAME}} in a value stands for the environment variable NAME.
   *
   * @throws GameQueueException when the file cannot be read, or naming the setting and the remedy
   */
  public static WriterConfig read(Path file) {
    return read(file, System::getenv);
  }

  /**
   * The same.
   *
   * @param effective takes what each setting came to
   */
  public static WriterConfig read(Path file, EffectiveSettings effective) {
    return read(file, System::getenv, effective);
  }

  static WriterConfig read(Path file, UnaryOperator<@Nullable String> environment) {
    return read(file, environment, new EffectiveSettings());
  }

  static WriterConfig read(
      Path file, UnaryOperator<@Nullable String> environment, EffectiveSettings effective) {
    JsonNode tree;
    try {
      tree =
          YAMLMapper.builder()
              .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
              .build()
              .readTree(Files.readString(file));
    } catch (java.nio.file.NoSuchFileException e) {
      throw new GameQueueException(
          "there is no file %s: write one like gameq.example.yaml and pass --config"
              .formatted(file),
          e);
    } catch (JsonProcessingException e) { // whose text, and whose cause, show the line
      JsonLocation at = e.getLocation();
      throw new GameQueueException(
          ("%s is no YAML%s: look for an odd quote, indentation, colon or a setting that is"
                  + " twice")
              .formatted(
                  file,
                  at == null
                      ? ""
                      : " at line %s, column %s".formatted(at.getLineNr(), at.getColumnNr())));
    } catch (IOException e) {
      throw new GameQueueException("%s cannot be read (%s)".formatted(file, e), e);
    }
    try {
      return config(new Section("", tree, environment, effective));
    } catch (GameQueueException e) {
      throw new GameQueueException("%s: %s".formatted(file, e.getMessage()), e);
    }
  }

  private static WriterConfig config(Section all) {
    String namespace = all.required("namespace");
    if (!namespace.matches("[a-z0-9_-]{1,32}")) {
      throw all.wrongValue("namespace", "use 1 to 32 of a-z 0-9 _ -");
    }
    int slots = all.number("slots", GameQueueConfig.DEFAULT_SLOTS, 1, MAX_SLOTS);
    if (Integer.bitCount(slots) != 1) {
      throw all.wrongValue("slots", "use a power of two up to " + MAX_SLOTS);
    }
    Section mysql = all.section("mysql");
    WriterConfig config =
        new WriterConfig(
            namespace,
            slots,
            redis(all.section("redis")),
            mysql(mysql),
            writer(all.section("writer")),
            HttpSection.read(all.section("http")),
            log(all.section("log")),
            tables(all.sections("tables")),
            NodeSection.read(all.section("node")));
    all.refuseOthers();
    if (config.http().door() != DoorMode.NONE) {
      if (config.node() == null) {
        throw all.wrong(
            "http.door",
            "is open, and there is no section 'node': messages need a node and its WAL");
      }
      if (config.http().tokens().isEmpty()) {
        throw all.wrong(
            "http.door", "is open, and there is no token: set http.tokens or http.tokenFile");
      }
    }
    int workers = config.writer().workers();
    if (mysql.text("poolSize") != null && config.mysql().poolSize() < workers) {
      throw mysql.wrong(
          "poolSize",
          ("is %1$s, fewer than writer.workers, which is %2$s: each has a connection, so use"
                  + " %2$s or more")
              .formatted(config.mysql().poolSize(), workers));
    }
    return config;
  }

  private static RedisConfig redis(Section redis) {
    String uri = redis.required("uri");
    String user = redis.text("user");
    Password password = password(redis);
    Section sentinel = redis.section("sentinel");
    RedisLogin sentinelLogin = new RedisLogin(sentinel.text("user"), password(sentinel));
    sentinel.refuseOthers();
    Tls tls = tls(redis);
    redis.refuseOthers();
    if (!uri.matches("rediss?(-sentinel)?://.+")) {
      // Not the value: it may carry a password.
      throw redis.wrong(
          "uri", "must begin with redis://, redis-sentinel://, or, for TLS, rediss instead");
    }
    if (uri.contains("-sentinel:") && !uri.contains("#")) {
      throw redis.wrong("uri", "must end with #name, the name that Sentinel gives the primary");
    }
    return new RedisConfig(
        uri,
        new RedisLogin(user, password),
        sentinelLogin,
        tls,
        RedisConfig.DEFAULT_TIMEOUT_MILLIS);
  }

  private static MySqlConfig mysql(Section mysql) {
    String url = mysql.required("url");
    String user = mysql.required("user");
    Password password = password(mysql);
    int poolSize = mysql.number("poolSize", 4, 1, 200);
    Tls tls = tls(mysql);
    mysql.refuseOthers();
    return new MySqlConfig(url, user, password == null ? Password.of("") : password, poolSize, tls);
  }

  /** Of a file: read here, so that a wrong name is told at once, and again when it is needed. */
  static @Nullable Password password(Section section) {
    return password(section, "password");
  }

  /** The same of another name. */
  static @Nullable Password password(Section section, String name) {
    String secret = section.secret(name);
    Path file = file(section, name + "File");
    if (file != null) {
      return Password.ofFile(file);
    }
    return secret == null ? null : Password.of(secret);
  }

  /** Null: the section is not there. */
  private static @Nullable Tls tls(Section server) {
    Section tls = server.section("tls");
    if (tls.isMissing()) {
      return null;
    }
    Tls read = new Tls(file(tls, "caFile"), file(tls, "clientFile"));
    tls.refuseOthers();
    return read;
  }

  static @Nullable Path file(Section section, String name) {
    String file = section.text(name);
    if (file != null && !Files.isReadable(Path.of(file))) {
      throw section.wrongValue(name, "this file cannot be read");
    }
    return file == null ? null : Path.of(file);
  }

  private static WriterSettings writer(Section writer) {
    String name = writer.text("name", defaultName());
    if (!name.matches("[A-Za-z0-9._-]{1,64}")) {
      throw writer.wrongValue("name", "use 1 to 64 of A-Z a-z 0-9 . _ -");
    }
    WriterSettings settings =
        new WriterSettings(
            name,
            writer.number("workers", 4, 1, 64),
            writer.number("batchOwners", Bounds.DEFAULT.owners(), 1, MAX_BATCH),
            writer.number("batchRows", Bounds.DEFAULT.rows(), 1, MAX_BATCH),
            writer.number("leaseSeconds", 30, 5, 3600),
            writer.number("deadLetters", 100_000, 1, 10_000_000),
            writer.number("tombstoneDays", 30, 1, MAX_TOMBSTONE_DAYS),
            writer.number("drainSeconds", DEFAULT_DRAIN_SECONDS, 1, 3_600),
            rowsPerSecond(writer),
            writer.yes("commandSocket", true));
    writer.refuseOthers();
    return settings;
  }

  private static int rowsPerSecond(Section writer) {
    return writer.text("rowsPerSecond") == null
        ? 0
        : writer.number("rowsPerSecond", 0, LEAST_ROWS_PER_SECOND, MAX_ROWS_PER_SECOND);
  }

  private static String defaultName() {
    String host;
    try {
      host = InetAddress.getLocalHost().getHostName();
    } catch (IOException e) {
      host = "writer";
    }
    String plain = host.replaceAll("[^A-Za-z0-9._-]", "-");
    return plain.substring(0, Math.min(48, plain.length())) + "-" + ProcessHandle.current().pid();
  }

  private static LogSettings log(Section log) {
    LogSettings settings =
        new LogSettings(
            log.oneOf("format", LogSettings.DEFAULT.format()),
            log.oneOf("level", LogSettings.DEFAULT.level()));
    log.refuseOthers();
    return settings;
  }

  private static List<TableSpec> tables(List<Section> sections) {
    List<TableSpec> tables = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (Section section : sections) {
      TableSpec table =
          new TableSpec(
              section.required("name"), section.required("owner"), section.required("ownerColumn"));
      section.refuseOthers();
      if (!names.add(table.name())) {
        throw section.wrongValue("name", "it is there for a second time");
      }
      tables.add(table);
    }
    return tables;
  }

  /** Whether messages may be published and taken over HTTP. */
  public enum DoorMode {
    /** No: there are no such paths. */
    NONE,
    /** Yes, by whoever has a token for it. */
    OPEN
  }

  /**
   * How a writer works; immutable.
   *
   * @param name names this writer in Redis and in logs
   * @param workers threads, each with a connection to Redis and one to MySQL
   * @param batchOwners most owners of one flush
   * @param batchRows how many rows a flush aims at; an owner with more is flushed whole
   * @param leaseSeconds how long a claim belongs to a writer that says nothing
   * @param deadLetters most rows set aside in the database
   * @param tombstoneDays how long deleted rows are remembered
   * @param drainSeconds how long a writer that is told to stop may take to finish what it has
   *     claimed
   * @param rowsPerSecond most rows that it takes in a second; 0: as many as MySQL takes
   * @param commandSocket whether it answers commands of this host
   */
  public record WriterSettings(
      String name,
      int workers,
      int batchOwners,
      int batchRows,
      int leaseSeconds,
      int deadLetters,
      int tombstoneDays,
      int drainSeconds,
      int rowsPerSecond,
      boolean commandSocket) {}

  /** How a running writer logs; immutable. */
  public record LogSettings(Format format, Level level) {
    /** As it is without a setting. */
    public static final LogSettings DEFAULT = new LogSettings(Format.TEXT, Level.INFO);

    /** What a line looks like. */
    public enum Format {
      /** For people: the time, the thread, the message. */
      TEXT,
      /** {@code time=... level=... message="..."}. */
      KEYVALUE,
      /** One JSON object a line. */
      JSON
    }

    /** The least that is logged. */
    public enum Level {
      ERROR,
      WARN,
      INFO,
      DEBUG
    }
  }

  /**
   * Everything a gameq.yaml says, with defaults filled in; immutable. Shown without secrets.
   *
   * @param slots shards of owners, a power of two, fixed for a namespace
   * @param tables what the schema commands manage; a writer reads gameq_table, and starts only if
   *     these are there
   * @param node null: there is none in the writer's process
   */
  public record WriterConfig(
      String namespace,
      int slots,
      RedisConfig redis,
      MySqlConfig mysql,
      WriterSettings writer,
      HttpSettings http,
      LogSettings log,
      List<TableSpec> tables,
      @Nullable NodeSettings node) {
    public WriterConfig {
      tables = List.copyOf(tables);
    }

    /**
     * The tables.
     *
     * @throws GameQueueException when the file lists none
     */
    public List<TableSpec> requiredTables() {
      if (tables.isEmpty()) {
        throw new GameQueueException(
            "setting 'tables' is missing: list each table with name, owner and ownerColumn");
      }
      return tables;
    }
  }

  /**
   * What the settings came to when a file was read, and where each is from; secrets are masked as
   * they are noted. Used by one thread.
   */
  public static final class EffectiveSettings {
    private static final String DEFAULT = "default";
    private static final String MASK = "***";

    /** Not {@code passwordFile}, which names a file. */
    private static final Pattern SECRET =
        Pattern.compile("(?i).*(password|passphrase|secret|token)");

    /** User and password in a URI, and parameters of it such as {@code password=...}. */
    private static final Pattern IN_URI =
        Pattern.compile("(?i)(?<=//).*(?=@)|(?<=(password|secret|token)=)[^&#]*");

    private final Map<String, Setting> settings = new LinkedHashMap<>();

    /**
     * One setting; immutable.
     *
     * @param name in full, such as {@code writer.workers}
     * @param value in effect, masked where it is a secret; null for none
     * @param origin {@code default}, {@code file}, or {@code environment variable NAME}
     */
    public record Setting(String name, @Nullable String value, String origin) {}

    /**
     * The file has a setting.
     *
     * @param variables of the environment that it names
     */
    void given(String name, String value, Set<String> variables) {
      settings.put(
          name,
          new Setting(
              name,
              masked(name, value),
              variables.isEmpty()
                  ? "file"
                  : "environment variable " + String.join(", ", variables)));
    }

    /** The file does not have a setting. */
    void absent(String name) {
      settings.putIfAbsent(name, new Setting(name, null, DEFAULT));
    }

    /** A setting takes its default. */
    void otherwise(String name, String value) {
      settings.put(name, new Setting(name, masked(name, value), DEFAULT));
    }

    /** All settings, in the order in which they were read. */
    public List<Setting> all() {
      return new ArrayList<>(settings.values());
    }

    private static String masked(String name, String value) {
      return SECRET.matcher(name).matches() ? MASK : IN_URI.matcher(value).replaceAll(MASK);
    }
  }

  /** Reads {@code node} of the configuration file. Stateless. */
  static final class NodeSection {
    private NodeSection() {}

    /** Null: the section is not there, so there is no node in the writer. */
    static @Nullable NodeSettings read(Section node) {
      if (node.isMissing()) {
        return null;
      }
      String name = node.required("name");
      if (!name.matches("[A-Za-z0-9._-]{1,64}")) {
        throw node.wrongValue("name", "use 1 to 64 of A-Z a-z 0-9 . _ -");
      }
      Path wal = Path.of(node.required("walDirectory"));
      Section redis = node.section("redis");
      RedisLogin redisLogin = new RedisLogin(redis.text("user"), ConfigReader.password(redis));
      redis.refuseOthers();
      Section mysql = node.section("mysql");
      String mysqlUser = mysql.required("user");
      Password mysqlPassword = ConfigReader.password(mysql);
      mysql.refuseOthers();
      String plugins = node.text("plugins");
      if (plugins != null && !Files.isDirectory(Path.of(plugins))) {
        throw node.wrongValue("plugins", "this is no directory");
      }
      node.refuseOthers();
      return new NodeSettings(
          name,
          wal,
          redisLogin,
          new NodeSettings.MySqlLogin(
              mysqlUser, mysqlPassword == null ? Password.of("") : mysqlPassword),
          plugins == null ? null : Path.of(plugins));
    }
  }

  /** Reads {@code http} of the configuration file. Stateless. */
  static final class HttpSection {
    private static final int MAX_PORT = 65_535;

    /** Each is compared with what a request carries. */
    private static final int MOST_TOKENS = 50;

    private HttpSection() {}

    static HttpSettings read(Section http) {
      HttpSettings settings =
          new HttpSettings(
              http.text("address", HttpSettings.DEFAULT_ADDRESS),
              http.number("port", HttpSettings.DEFAULT_PORT, 0, MAX_PORT),
              http.text("port") != null,
              tokens(http),
              tls(http.section("tls")),
              http.yes("behindProxy", false),
              http.oneOf("console", ConsoleMode.ACT),
              http.oneOf("door", DoorMode.NONE));
      http.refuseOthers();
      return settings;
    }

    private static List<AccessToken> tokens(Section http) {
      List<AccessToken> tokens = new ArrayList<>();
      Set<String> secrets = new HashSet<>();
      Password single = token(http);
      if (single != null) {
        secrets.add(single.read());
        tokens.add(new AccessToken("token", Role.ACT, single, List.of(), true));
      }
      Set<String> names = new HashSet<>();
      List<Section> named = http.sections("tokens");
      if (named.size() > MOST_TOKENS) {
        throw http.wrong("tokens", "are %s: use %s at most".formatted(named.size(), MOST_TOKENS));
      }
      for (Section of : named) {
        String name = of.required("name");
        if (!name.matches("[A-Za-z0-9._-]{1,32}")) {
          throw of.wrongValue("name", "use 1 to 32 of A-Z a-z 0-9 . _ -");
        }
        if (!names.add(name)) {
          throw of.wrongValue("name", "it is there for a second time");
        }
        Role role = of.oneOf("role", Role.READ);
        Password secret = token(of);
        List<String> topics = topics(of);
        boolean mayDefine = of.yes("define", false) || role == Role.ACT;
        of.refuseOthers();
        if (secret == null) {
          throw of.wrong("tokenFile", "is missing: it has no default");
        }
        if (!secrets.add(secret.read())) {
          throw of.wrong("tokenFile", "has the same token as another: whose it is must be known");
        }
        tokens.add(new AccessToken(name, role, secret, topics, mayDefine));
      }
      return tokens;
    }

    /** Names or patterns, separated by spaces. */
    private static List<String> topics(Section of) {
      String text = of.text("topics");
      List<String> topics = text == null ? List.of() : List.of(text.strip().split(" +"));
      for (String topic : topics) {
        if (!topic.matches("[a-z0-9_*-]{1,32}")) {
          throw of.wrongValue(
              "topics", "use names of topics separated by spaces, with * for any characters");
        }
      }
      return topics;
    }

    private static @Nullable Password token(Section of) {
      Password token = ConfigReader.password(of, "token");
      if (token != null && token.read().length() < AccessToken.LEAST_CHARS) {
        throw of.wrong(
            "token", "is too short: use %s characters or more".formatted(AccessToken.LEAST_CHARS));
      }
      return token;
    }

    private static @Nullable TlsFiles tls(Section tls) {
      String certFile = tls.text("certFile");
      String keyFile = tls.text("keyFile");
      tls.refuseOthers();
      if (certFile == null && keyFile == null) {
        return null;
      }
      if (certFile == null || keyFile == null) {
        throw tls.wrong(
            certFile == null ? "certFile" : "keyFile",
            "is missing: certFile and keyFile go together");
      }
      return new TlsFiles(
          Objects.requireNonNull(ConfigReader.file(tls, "certFile")),
          Objects.requireNonNull(ConfigReader.file(tls, "keyFile")));
    }
  }

  /**
   * Where a writer finds what it needs to answer over HTTPS; immutable.
   *
   * @param certFile PEM: its certificate, then those that lead to a known authority
   * @param keyFile PEM: the key of the first, PKCS #8 and not encrypted
   */
  public record TlsFiles(Path certFile, Path keyFile) {}

  /**
   * The game node within a writer's process, which messages over HTTP and plug-ins need; immutable.
   *
   * @param name of the node: the same after a restart, since it finds its WALs by it
   * @param redis its login, a node's and not the writer's
   * @param plugins a directory with jars; null for none
   */
  public record NodeSettings(
      String name, Path walDirectory, RedisLogin redis, MySqlLogin mysql, @Nullable Path plugins) {
    /** A login to MySQL; immutable. */
    public record MySqlLogin(String user, Password password) {}
  }
}
