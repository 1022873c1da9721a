package io.gameq.writer.config;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.gameq.GameQueueException;
import io.gameq.config.GameQueueConfig;
import io.gameq.config.Password;
import io.gameq.config.Tls;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.schema.CatalogReader.TableSpec;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisConnector.RedisLogin;
import io.gameq.redis.script.ClaimScript.Bounds;
import io.gameq.rows.Table.SimilarNames;
import io.gameq.terminal.Variables;
import io.gameq.writer.config.AccessToken.Role;
import io.gameq.writer.config.WriterConfig.ConsoleMode;
import io.gameq.writer.config.WriterConfig.DoorMode;
import io.gameq.writer.config.WriterConfig.HttpSettings;
import io.gameq.writer.config.WriterConfig.LogSettings;
import io.gameq.writer.config.WriterConfig.NodeSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads a {@link WriterConfig} from YAML. {@link #SETTINGS} declares every setting once: checks,
 * errors and what {@code config check} prints come from there. Stateless.
 */
public final class ConfigReader {
  private static final String REQUIRED = "required";
  private static final @Nullable String NONE = null;

  /** A claim is bounded, since a script that has written cannot be stopped. */
  private static final int MOST_OF_BATCH = 10_000;

  /** An owner is never split: with fewer, one of them may take minutes of a ceiling. */
  private static final int LEAST_ROWS_PER_SECOND = 100;

  /** Each is compared with what a request carries. */
  private static final int MOST_TOKENS = 50;

  private static final String NAME = "[A-Za-z0-9._-]";
  private static final String OF_NAME = " of A-Z a-z 0-9 . _ -";

  /**
   * A setting.
   *
   * @param name in full, {@code []} standing for the place in a list
   * @param otherwise its default; null for none, {@value #REQUIRED}
   * @param range what it may be; follows the word 'use'
   * @param meaning in one sentence; empty where the name says it
   */
  record Declared(
      String name,
      @Nullable String otherwise,
      String range,
      Predicate<String> isRight,
      String meaning) {}

  /** All settings, in the order of the reference. */
  static final List<Declared> SETTINGS =
      List.of(
          text(
              "namespace",
              REQUIRED,
              "[a-z0-9_-]{1,32}",
              "1 to 32 of a-z 0-9 _ -",
              "begins all Redis keys; fixed for a database"),
          new Declared(
              "slots",
              Integer.toString(GameQueueConfig.DEFAULT_SLOTS),
              "a power of two up to 1024",
              value -> isNumber(value, 1, 1024) && Integer.bitCount(parsed(value)) == 1,
              "shards of owners; fixed for a database"),
          any("redis.uri", REQUIRED, "redis://host:port, or redis-sentinel://h:p,h:p#primary"),
          any("redis.user", NONE, "Redis' default user otherwise"),
          any("redis.password", NONE, ""),
          file("redis.passwordFile", "read again when it is needed"),
          any("redis.sentinel.user", NONE, "login at the Sentinels"),
          any("redis.sentinel.password", NONE, ""),
          file("redis.sentinel.passwordFile", "read again when it is needed"),
          file("redis.tls.caFile", "whom to trust"),
          file("redis.tls.clientFile", "certificate and key of this client"),
          any("mysql.url", REQUIRED, "jdbc:mysql://host:port/database"),
          any("mysql.user", REQUIRED, ""),
          any("mysql.password", NONE, ""),
          file("mysql.passwordFile", "read again when it is needed"),
          number("mysql.poolSize", 4, 1, 200, "connections; workers + 3 are opened at least"),
          file("mysql.tls.caFile", "whom to trust"),
          file("mysql.tls.clientFile", "certificate and key of this client"),
          text("writer.name", defaultName(), NAME + "{1,64}", "1 to 64" + OF_NAME, "in logs"),
          number("writer.workers", 4, 1, 64, "threads, each with a connection to each server"),
          number(
              "writer.batchOwners",
              Bounds.DEFAULT.owners(),
              1,
              MOST_OF_BATCH,
              "most owners of a flush"),
          number(
              "writer.batchRows",
              Bounds.DEFAULT.rows(),
              1,
              MOST_OF_BATCH,
              "rows a flush aims at; an owner is flushed whole"),
          number("writer.leaseSeconds", 30, 5, 3_600, "a writer silent for so long loses claims"),
          number("writer.deadLetters", 100_000, 1, 10_000_000, "most rows set aside"),
          number("writer.tombstoneDays", 30, 1, 3_650, "how long deletes are remembered"),
          // Kubernetes kills what has not stopped by itself after 30 s, systemd after 90 s.
          number("writer.drainSeconds", 20, 1, 3_600, "longest stop"),
          number(
              "writer.rowsPerSecond",
              NONE,
              LEAST_ROWS_PER_SECOND,
              10_000_000, // beyond what any MySQL takes
              "most rows of this writer; without it what MySQL takes"),
          words("writer.commandSocket", "true", List.of("true", "false"), "answers this host"),
          any("http.address", "127.0.0.1", "others than loopback need a token"),
          number("http.port", 7420, 0, 65_535, "0: no HTTP"),
          any("http.token", NONE, "for console and metrics, 16 characters or more"),
          file("http.tokenFile", "read again every few seconds"),
          text("http.tokens[].name", REQUIRED, NAME + "{1,32}", "1 to 32" + OF_NAME, "for audits"),
          words("http.tokens[].role", Role.READ, "what it allows"),
          any("http.tokens[].token", NONE, ""),
          file("http.tokens[].tokenFile", "read again every few seconds"),
          text(
              "http.tokens[].topics",
              NONE,
              " *[a-z0-9_*-]{1,32}( +[a-z0-9_*-]{1,32})* *",
              "names of topics separated by spaces, with * for any characters",
              "all topics otherwise"),
          words("http.tokens[].define", "false", List.of("true", "false"), "defines topics"),
          file("http.tls.certFile", "PEM: its certificate, then those that sign it"),
          file("http.tls.keyFile", "PEM: the key, PKCS #8"),
          words("http.behindProxy", "false", List.of("true", "false"), "trusts Forwarded headers"),
          words("http.console", ConsoleMode.ACT, "what the console is for"),
          words("http.door", DoorMode.NONE, "messages over HTTP"),
          words("log.format", LogSettings.DEFAULT.format(), ""),
          words("log.level", LogSettings.DEFAULT.level(), "the least that is logged"),
          any("tables[].name", REQUIRED, ""),
          any("tables[].owner", REQUIRED, "the kind of its owners"),
          any("tables[].ownerColumn", REQUIRED, ""),
          text(
              "node.name",
              REQUIRED,
              NAME + "{1,64}",
              "1 to 64" + OF_NAME,
              "the same after a restart, another in each writer"),
          any("node.walDirectory", REQUIRED, "local; kept across restarts"),
          any("node.redis.user", NONE, "a node's login, not the writer's"),
          any("node.redis.password", NONE, ""),
          file("node.redis.passwordFile", "read again when it is needed"),
          any("node.mysql.user", REQUIRED, "a node's login, not the writer's"),
          any("node.mysql.password", NONE, ""),
          file("node.mysql.passwordFile", "read again when it is needed"),
          new Declared(
              "node.plugins",
              NONE,
              "a directory",
              value -> Files.isDirectory(Path.of(value)),
              "its jars are plug-ins"));

  private ConfigReader() {}

  private static Declared text(
      String name, @Nullable String otherwise, String pattern, String range, String meaning) {
    return new Declared(name, otherwise, range, value -> value.matches(pattern), meaning);
  }

  private static Declared any(String name, @Nullable String otherwise, String meaning) {
    return new Declared(name, otherwise, "any text", value -> true, meaning);
  }

  private static Declared number(
      String name, @Nullable Object otherwise, int min, int max, String meaning) {
    return new Declared(
        name,
        otherwise == null ? null : otherwise.toString(),
        "a whole number from %s to %s".formatted(min, max),
        value -> isNumber(value, min, max),
        meaning);
  }

  private static boolean isNumber(String value, int min, int max) {
    try {
      return parsed(value) >= min && parsed(value) <= max;
    } catch (NumberFormatException e) {
      return false;
    }
  }

  private static int parsed(String value) {
    return Integer.parseInt(value.strip());
  }

  private static Declared words(String name, String otherwise, List<String> words, String meaning) {
    return new Declared(name, otherwise, String.join(" or ", words), words::contains, meaning);
  }

  /** One of the constants, in small letters. */
  private static Declared words(String name, Enum<?> otherwise, String meaning) {
    return words(
        name,
        otherwise.name().toLowerCase(Locale.ROOT),
        Arrays.stream(otherwise.getDeclaringClass().getEnumConstants())
            .map(one -> one.name().toLowerCase(Locale.ROOT))
            .toList(),
        meaning);
  }

  private static Declared file(String name, String meaning) {
    return new Declared(
        name, NONE, "a file that can be read", ConfigReader::isReadableFile, meaning);
  }

  private static boolean isReadableFile(String value) {
    return Files.isReadable(Path.of(value)) && !Files.isDirectory(Path.of(value));
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

  /** Reads a file, as below. */
  public static WriterConfig read(Path file) {
    return read(file, new EffectiveSettings());
  }

  /**
   * Reads a file; {@code ${NAME}} in a value stands for the environment variable NAME.
   *
   * @param effective takes what each setting came to
   * @throws GameQueueException when the file cannot be read, or naming the setting and the remedy
   */
  public static WriterConfig read(Path file, EffectiveSettings effective) {
    return read(file, System::getenv, effective);
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
    } catch (NoSuchFileException e) {
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
      return config(new Section("", "", tree, environment, effective));
    } catch (GameQueueException e) {
      throw new GameQueueException("%s: %s".formatted(file, e.getMessage()), e);
    }
  }

  private static WriterConfig config(Section all) {
    Section redis = all.section("redis");
    Section mysql = all.section("mysql");
    Section writer = all.section("writer");
    Section log = all.section("log");
    WriterConfig config =
        new WriterConfig(
            all.required("namespace"),
            all.number("slots"),
            redis(redis),
            new MySqlConfig(
                mysql.required("url"),
                mysql.required("user"),
                Objects.requireNonNullElse(mysql.secret("password"), Password.of("")),
                mysql.number("poolSize"),
                tls(mysql)),
            new WriterConfig.WriterSettings(
                writer.required("name"),
                writer.number("workers"),
                writer.number("batchOwners"),
                writer.number("batchRows"),
                writer.number("leaseSeconds"),
                writer.number("deadLetters"),
                writer.number("tombstoneDays"),
                writer.number("drainSeconds"),
                writer.number("rowsPerSecond"),
                writer.isTrue("commandSocket")),
            http(all.section("http")),
            new LogSettings(
                log.word("format", LogSettings.Format.class),
                log.word("level", LogSettings.Level.class)),
            all.sections("tables").stream()
                .map(
                    of ->
                        new TableSpec(
                            of.required("name"), of.required("owner"), of.required("ownerColumn")))
                .toList(),
            node(all.section("node")));
    all.refuseTwice("tables", "name");
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
    if (mysql.has("poolSize") && config.mysql().poolSize() < workers) {
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
    RedisLogin login = new RedisLogin(redis.text("user"), redis.secret("password"));
    Section sentinel = redis.section("sentinel");
    RedisLogin atSentinel = new RedisLogin(sentinel.text("user"), sentinel.secret("password"));
    Tls tls = tls(redis);
    if (!uri.matches("rediss?(-sentinel)?://.+")) {
      // Not the value: it may carry a password.
      throw redis.wrong(
          "uri", "must begin with redis://, redis-sentinel://, or, for TLS, rediss instead");
    }
    if (uri.contains("-sentinel:") && !uri.contains("#")) {
      throw redis.wrong("uri", "must end with #name, the name that Sentinel gives the primary");
    }
    return new RedisConfig(uri, login, atSentinel, tls, RedisConfig.DEFAULT_TIMEOUT_MILLIS);
  }

  /** Null: the section is not there. */
  private static @Nullable Tls tls(Section server) {
    Section tls = server.section("tls");
    return tls.isMissing() ? null : new Tls(tls.path("caFile"), tls.path("clientFile"));
  }

  private static HttpSettings http(Section http) {
    List<AccessToken> tokens = new ArrayList<>();
    Set<String> secrets = new HashSet<>();
    Password single = token(http);
    if (single != null) {
      secrets.add(single.read());
      tokens.add(new AccessToken("token", Role.ACT, single, List.of(), true));
    }
    List<Section> named = http.sections("tokens");
    if (named.size() > MOST_TOKENS) {
      throw http.wrong("tokens", "are %s: use %s at most".formatted(named.size(), MOST_TOKENS));
    }
    http.refuseTwice("tokens", "name");
    for (Section of : named) {
      String name = of.required("name");
      Role role = of.word("role", Role.class);
      Password secret = token(of);
      String topics = of.text("topics");
      boolean mayDefine = of.isTrue("define") || role == Role.ACT;
      if (secret == null) {
        throw of.wrong("tokenFile", "is missing: it has no default");
      }
      if (!secrets.add(secret.read())) {
        throw of.wrong("tokenFile", "has the same token as another: whose it is must be known");
      }
      tokens.add(
          new AccessToken(
              name,
              role,
              secret,
              topics == null ? List.of() : List.of(topics.strip().split(" +")),
              mayDefine));
    }
    Section tls = http.section("tls");
    Path cert = tls.path("certFile");
    Path key = tls.path("keyFile");
    if ((cert == null) != (key == null)) {
      throw tls.wrong(
          cert == null ? "certFile" : "keyFile", "is missing: certFile and keyFile go together");
    }
    return new HttpSettings(
        http.required("address"),
        http.number("port"),
        http.has("port"),
        tokens,
        cert == null || key == null ? null : new WriterConfig.TlsFiles(cert, key),
        http.isTrue("behindProxy"),
        http.word("console", ConsoleMode.class),
        http.word("door", DoorMode.class));
  }

  private static @Nullable Password token(Section of) {
    Password token = of.secret("token");
    if (token != null && token.read().length() < AccessToken.LEAST_CHARS) {
      throw of.wrong(
          "token", "is too short: use %s characters or more".formatted(AccessToken.LEAST_CHARS));
    }
    return token;
  }

  /** Null: the section is not there, so there is no node in the writer. */
  private static @Nullable NodeSettings node(Section node) {
    if (node.isMissing()) {
      return null;
    }
    Section redis = node.section("redis");
    Section mysql = node.section("mysql");
    return new NodeSettings(
        node.required("name"),
        Path.of(node.required("walDirectory")),
        new RedisLogin(redis.text("user"), redis.secret("password")),
        new NodeSettings.MySqlLogin(
            mysql.required("user"),
            Objects.requireNonNullElse(mysql.secret("password"), Password.of(""))),
        node.path("plugins"));
  }

  /**
   * One map of the file, which knows its path, so that every error names the setting in full. It
   * refuses what is not declared when it is made. Used by one thread.
   */
  private static final class Section {
    private final String path;
    private final String declaredPath;
    private final JsonNode map;
    private final UnaryOperator<@Nullable String> environment;
    private final EffectiveSettings effective;

    /**
     * A section and, through it, those within it.
     *
     * @param path empty, or ends in a dot
     * @param declaredPath the same with {@code []} for places in lists
     * @param effective takes what each setting comes to
     */
    Section(
        String path,
        String declaredPath,
        JsonNode map,
        UnaryOperator<@Nullable String> environment,
        EffectiveSettings effective) {
      this.path = path;
      this.declaredPath = declaredPath;
      this.map = map;
      this.environment = environment;
      this.effective = effective;
      if (!map.isObject() && !isMissing() && !map.isNull()) {
        throw new GameQueueException(
            "setting '%s' must hold settings, as in 'name: value'"
                .formatted(path.substring(0, Math.max(0, path.length() - 1))));
      }
      Set<String> known = new TreeSet<>();
      for (Declared of : SETTINGS) {
        if (of.name.startsWith(declaredPath)) {
          known.add(of.name.substring(declaredPath.length()).split("[.\\[]", 2)[0]);
        }
      }
      for (Iterator<String> names = map.fieldNames(); names.hasNext(); ) {
        String name = names.next();
        if (!known.contains(name)) {
          throw wrong(name, "is not a setting" + SimilarNames.hint(name, known));
        }
      }
    }

    /** Whether the file does not have it; it may be there without any setting. */
    boolean isMissing() {
      return map.isMissingNode();
    }

    boolean has(String name) {
      return !map.path(name).isMissingNode() && !map.path(name).isNull();
    }

    /** What the file says, with each ${NAME} replaced; else the default; null for neither. */
    @Nullable String text(String name) {
      Declared declared =
          SETTINGS.stream()
              .filter(of -> of.name.equals(declaredPath + name))
              .findFirst()
              .orElseThrow();
      JsonNode value = map.path(name);
      if (!has(name)) {
        if (REQUIRED.equals(declared.otherwise)) {
          throw wrong(name, "is missing: it has no default");
        }
        effective.otherwise(path + name, declared.otherwise);
        return declared.otherwise;
      }
      if (!value.isValueNode()) {
        throw wrong(name, "must be a single value");
      }
      String raw = value.asText();
      String text = Variables.filled(raw, variable -> content(name, variable));
      effective.given(path + name, text, Variables.names(raw));
      if (text.isBlank() && REQUIRED.equals(declared.otherwise)) {
        throw wrong(name, "is missing: it has no default");
      }
      if (!declared.isRight.test(text)) {
        throw wrongValue(name, "use " + declared.range);
      }
      return text;
    }

    private String content(String name, String variable) {
      String content = environment.apply(variable);
      if (content == null) {
        throw wrong(
            name, "names the environment variable %s, which is not set".formatted(variable));
      }
      return content;
    }

    /** Of a setting that is required or has a default. */
    String required(String name) {
      return Objects.requireNonNull(text(name));
    }

    /** 0 where there is neither a value nor a default. */
    int number(String name) {
      String text = text(name);
      return text == null ? 0 : parsed(text);
    }

    boolean isTrue(String name) {
      return required(name).equals("true");
    }

    <E extends Enum<E>> E word(String name, Class<E> words) {
      return Enum.valueOf(words, required(name).toUpperCase(Locale.ROOT));
    }

    @Nullable Path path(String name) {
      String text = text(name);
      return text == null ? null : Path.of(text);
    }

    /**
     * What a setting says, or the file that the one with 'File' behind it names; null for neither.
     * A file is read when the secret is needed.
     */
    @Nullable Password secret(String name) {
      String secret = text(name);
      Path file = path(name + "File");
      if (file == null) {
        return secret == null ? null : Password.of(secret);
      }
      if (secret != null) {
        throw wrong(name + "File", "stands beside %s: give one of them".formatted(name));
      }
      return Password.ofFile(file);
    }

    Section section(String name) {
      return new Section(
          path + name + ".", declaredPath + name + ".", map.path(name), environment, effective);
    }

    List<Section> sections(String name) {
      JsonNode list = map.path(name);
      List<Section> sections = new ArrayList<>();
      if (has(name) && !list.isArray()) {
        throw wrong(name, "must be a list, with '- ' before each entry");
      }
      for (JsonNode entry : list) {
        sections.add(
            new Section(
                "%s%s[%s].".formatted(path, name, sections.size() + 1),
                declaredPath + name + "[].",
                entry,
                environment,
                effective));
      }
      return sections;
    }

    /** Refuses a list in which two entries have the same value of a setting. */
    void refuseTwice(String list, String name) {
      Set<String> values = new HashSet<>();
      for (Section of : sections(list)) {
        if (!values.add(of.required(name))) {
          throw of.wrongValue(name, "it is there for a second time");
        }
      }
    }

    /**
     * A setting with a value that it cannot have. Of one that names environment variables it says
     * these, not what they hold: that may be a secret, put where it does not belong.
     */
    GameQueueException wrongValue(String name, String remedy) {
      return wrong(name, "is '%s': %s".formatted(map.path(name).asText(), remedy));
    }

    GameQueueException wrong(String name, String problem) {
      return new GameQueueException("setting '%s' %s".formatted(path + name, problem));
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

    /** The file does not have a setting: it takes its default, null for none. */
    void otherwise(String name, @Nullable String value) {
      settings.put(name, new Setting(name, value == null ? null : masked(name, value), DEFAULT));
    }

    /** All settings, in the order in which they were read. */
    public List<Setting> all() {
      return new ArrayList<>(settings.values());
    }

    private static String masked(String name, String value) {
      return SECRET.matcher(name).matches() ? MASK : IN_URI.matcher(value).replaceAll(MASK);
    }
  }
}
