package io.gameq.writer.config;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.gameq.GameQueueException;
import io.gameq.config.Password;
import io.gameq.config.Tls;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisConnector.RedisLogin;
import io.gameq.rows.Table.SimilarNames;
import io.gameq.terminal.Variables;
import io.gameq.writer.config.AccessToken.TokenRole;
import io.gameq.writer.config.WriterConfig.ConsoleMode;
import io.gameq.writer.config.WriterConfig.HttpSettings;
import io.gameq.writer.config.WriterConfig.LogSettings;
import io.gameq.writer.config.WriterConfig.MessageApiMode;
import io.gameq.writer.config.WriterConfig.NodeSettings;
import io.gameq.writer.config.WriterConfig.Setting;
import io.gameq.writer.config.WriterConfig.TlsFiles;
import io.gameq.writer.config.WriterConfig.WriterSettings;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads a {@link WriterConfig} from YAML: first every setting of the file, by its name in full and
 * as {@link DeclaredSetting} says, then the configuration that they make. Used by one thread.
 */
public final class ConfigReader {
  /** Each is compared with what a request carries. */
  private static final int MOST_TOKENS = 50;

  private static final JsonMapper RECORDS =
      JsonMapper.builder().enable(MapperFeature.ACCEPT_CASE_INSENSITIVE_ENUMS).build();

  private static final String MASK = "***";

  /** Not {@code passwordFile}, which names a file. */
  private static final Pattern SECRET = Pattern.compile("(?i).*(password|passphrase|secret|token)");

  /** User and password in a URI, and parameters of it such as {@code password=...}. */
  private static final Pattern IN_URI =
      Pattern.compile("(?i)(?<=//).*(?=@)|(?<=(password|secret|token)=)[^&#]*");

  private final UnaryOperator<@Nullable String> environment;

  /** What the file has, by the settings' names in full. */
  private final Map<String, FileSetting> given = new HashMap<>();

  private final Set<String> sections = new HashSet<>();
  private final Map<String, Integer> lengthOfLists = new HashMap<>();
  private final List<Setting> effective = new ArrayList<>();

  /**
   * A setting of the file.
   *
   * @param raw as it stands there: this alone may be shown, since a variable may hold a secret
   */
  private record FileSetting(String raw, String text) {}

  private ConfigReader(UnaryOperator<@Nullable String> environment) {
    this.environment = environment;
  }

  /**
   * Reads a file; {@code ${NAME}} in a value stands for the environment variable NAME.
   *
   * @throws GameQueueException when the file cannot be read, or naming the setting and the remedy
   */
  public static WriterConfig read(Path file) {
    return read(file, System::getenv);
  }

  static WriterConfig read(Path file, UnaryOperator<@Nullable String> environment) {
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
      ConfigReader reader = new ConfigReader(environment);
      reader.section("", "", tree);
      return reader.config();
    } catch (GameQueueException e) {
      throw new GameQueueException("%s: %s".formatted(file, e.getMessage()), e);
    }
  }

  /**
   * Takes a section of the file.
   *
   * @param path empty, or ends in a dot
   * @param declared the same with {@code []} for places in lists
   */
  private void section(String path, String declared, JsonNode map) {
    if (!map.isObject() && !map.isMissingNode() && !map.isNull()) {
      throw new GameQueueException(
          "setting '%s' must hold settings, as in 'name: value'"
              .formatted(path.substring(0, Math.max(0, path.length() - 1))));
    }
    Set<String> known =
        DeclaredSetting.ALL.keySet().stream()
            .filter(name -> name.startsWith(declared))
            .map(name -> name.substring(declared.length()))
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> names =
        known.stream()
            .map(name -> name.split("[.\\[]", 2)[0])
            .collect(Collectors.toCollection(TreeSet::new));
    map.properties()
        .forEach(
            of -> {
              String name = of.getKey();
              if (known.contains(name)) {
                value(path + name, DeclaredSetting.of(declared + name), of.getValue());
              } else if (!names.contains(name)) {
                throw wrong(path + name, "is not a setting" + SimilarNames.hint(name, names));
              } else if (known.stream().anyMatch(setting -> setting.startsWith(name + "["))) {
                list(path + name, declared + name + "[].", of.getValue());
              } else {
                sections.add(path + name);
                section(path + name + ".", declared + name + ".", of.getValue());
              }
            });
  }

  private void list(String name, String declared, JsonNode list) {
    if (!list.isArray() && !list.isNull()) {
      throw wrong(name, "must be a list, with '- ' before each entry");
    }
    for (JsonNode entry : list) {
      section(name + "[" + lengthOfLists.merge(name, 1, Integer::sum) + "].", declared, entry);
    }
  }

  private void value(String name, DeclaredSetting declared, JsonNode value) {
    if (value.isNull()) {
      return; // takes its default
    }
    if (!value.isValueNode()) {
      throw wrong(name, "must be a single value");
    }
    String raw = value.asText();
    String text = Variables.filled(raw, variable -> content(name, variable));
    given.put(name, new FileSetting(raw, text));
    String remedy = declared.isRequired() && text.isBlank() ? null : declared.remedy(text);
    if (remedy != null) {
      throw wrongValue(name, remedy);
    }
  }

  private String content(String name, String variable) {
    String content = environment.apply(variable);
    if (content == null) {
      throw wrong(name, "names the environment variable %s, which is not set".formatted(variable));
    }
    return content;
  }

  private WriterConfig config() {
    WriterConfig config =
        new WriterConfig(
            required("namespace"),
            number("slots"),
            redis(),
            new MySqlConfig(
                required("mysql.url"),
                required("mysql.user"),
                Objects.requireNonNullElse(secret("mysql.password"), Password.of("")),
                number("mysql.poolSize"),
                tls("mysql.tls")),
            record("writer.", WriterSettings.class),
            http(),
            record("log.", LogSettings.class),
            entries("tables").stream()
                .map(
                    of ->
                        new TableSpec(
                            required(of + "name"),
                            required(of + "owner"),
                            required(of + "ownerColumn")))
                .toList(),
            sections.contains("node") ? node() : null,
            effective);
    refuseTwice("tables");
    if (config.http().door() != MessageApiMode.NONE) {
      if (config.node() == null) {
        throw wrong(
            "http.door",
            "is open, and there is no section 'node': messages need a node and its WAL");
      }
      if (config.http().tokens().isEmpty()) {
        throw wrong(
            "http.door", "is open, and there is no token: set http.tokens or http.tokenFile");
      }
    }
    int workers = config.writer().workers();
    if (given.containsKey("mysql.poolSize") && config.mysql().poolSize() < workers) {
      throw wrong(
          "mysql.poolSize",
          ("is %1$s, fewer than writer.workers, which is %2$s: each has a connection, so use"
                  + " %2$s or more")
              .formatted(config.mysql().poolSize(), workers));
    }
    return config;
  }

  private RedisConfig redis() {
    String uri = required("redis.uri");
    if (!uri.matches("rediss?(-sentinel)?://.+")) {
      // Not the value: it may carry a password.
      throw wrong(
          "redis.uri", "must begin with redis://, redis-sentinel://, or, for TLS, rediss instead");
    }
    if (uri.contains("-sentinel:") && !uri.contains("#")) {
      throw wrong("redis.uri", "must end with #name, the name that Sentinel gives the primary");
    }
    return new RedisConfig(
        uri,
        redisLogin("redis."),
        redisLogin("redis.sentinel."),
        tls("redis.tls"),
        RedisConfig.DEFAULT_TIMEOUT_MILLIS);
  }

  private RedisLogin redisLogin(String path) {
    return new RedisLogin(text(path + "user"), secret(path + "password"));
  }

  /** Null: the section is not there. */
  private @Nullable Tls tls(String section) {
    return sections.contains(section)
        ? new Tls(path(section + ".caFile"), path(section + ".clientFile"))
        : null;
  }

  private HttpSettings http() {
    Path cert = path("http.tls.certFile");
    Path key = path("http.tls.keyFile");
    if ((cert == null) != (key == null)) {
      throw wrong(
          cert == null ? "http.tls.certFile" : "http.tls.keyFile",
          "is missing: certFile and keyFile go together");
    }
    return new HttpSettings(
        required("http.address"),
        number("http.port"),
        given.containsKey("http.port"),
        tokens(),
        cert == null || key == null ? null : new TlsFiles(cert, key),
        isTrue("http.behindProxy"),
        word("http.console", ConsoleMode.class),
        word("http.door", MessageApiMode.class));
  }

  private List<AccessToken> tokens() {
    List<AccessToken> tokens = new ArrayList<>();
    Set<String> secrets = new HashSet<>();
    Password single = token("http.");
    if (single != null) {
      secrets.add(single.read());
      tokens.add(new AccessToken("token", TokenRole.ACT, single, List.of(), true));
    }
    List<String> named = entries("http.tokens");
    if (named.size() > MOST_TOKENS) {
      throw wrong("http.tokens", "are %s: use %s at most".formatted(named.size(), MOST_TOKENS));
    }
    refuseTwice("http.tokens");
    for (String of : named) {
      TokenRole role = word(of + "role", TokenRole.class);
      String topics = text(of + "topics");
      Password secret = token(of);
      if (secret == null) {
        throw wrong(of + "tokenFile", "is missing: it has no default");
      }
      if (!secrets.add(secret.read())) {
        throw wrong(of + "tokenFile", "has the same token as another: whose it is must be known");
      }
      tokens.add(
          new AccessToken(
              required(of + "name"),
              role,
              secret,
              topics == null ? List.of() : List.of(topics.strip().split(" +")),
              isTrue(of + "define") || role == TokenRole.ACT));
    }
    return tokens;
  }

  private @Nullable Password token(String path) {
    Password token = secret(path + "token");
    if (token != null && token.read().length() < AccessToken.LEAST_CHARS) {
      throw wrong(
          path + "token",
          "is too short: use %s characters or more".formatted(AccessToken.LEAST_CHARS));
    }
    return token;
  }

  private NodeSettings node() {
    return new NodeSettings(
        required("node.name"),
        Path.of(required("node.walDirectory")),
        redisLogin("node.redis."),
        new NodeSettings.MySqlLogin(
            required("node.mysql.user"),
            Objects.requireNonNullElse(secret("node.mysql.password"), Password.of(""))),
        path("node.plugins"));
  }

  /** What a setting comes to: of the file, else its default; null for neither. */
  private @Nullable String text(String name) {
    DeclaredSetting declared = DeclaredSetting.of(name.replaceAll("\\[\\d+]", "[]"));
    FileSetting of = given.get(name);
    String text = of == null ? declared.value() : of.text;
    if (declared.isRequired() && (text == null || text.isBlank())) {
      throw wrong(name, "is missing: it has no default");
    }
    Set<String> variables = of == null ? Set.of() : Variables.names(of.raw);
    effective.add(
        new Setting(
            name,
            text == null ? null : masked(name, text),
            of == null
                ? "default"
                : variables.isEmpty()
                    ? "file"
                    : "environment variable " + String.join(", ", variables)));
    return text;
  }

  private static String masked(String name, String text) {
    return SECRET.matcher(name).matches() ? MASK : IN_URI.matcher(text).replaceAll(MASK);
  }

  /** Of a setting that is required or has a default. */
  private String required(String name) {
    return Objects.requireNonNull(text(name));
  }

  /** A record whose components are settings. */
  private <T extends Record> T record(String path, Class<T> type) {
    Map<String, @Nullable String> texts = new HashMap<>();
    for (RecordComponent of : type.getRecordComponents()) {
      texts.put(of.getName(), text(path + of.getName()));
    }
    return RECORDS.convertValue(texts, type);
  }

  /** 0 where there is neither a value nor a default. */
  private int number(String name) {
    String text = text(name);
    return text == null ? 0 : Integer.parseInt(text.strip());
  }

  private boolean isTrue(String name) {
    return required(name).equals("true");
  }

  private <E extends Enum<E>> E word(String name, Class<E> words) {
    return Enum.valueOf(words, required(name).toUpperCase(Locale.ROOT));
  }

  private @Nullable Path path(String name) {
    String text = text(name);
    return text == null ? null : Path.of(text);
  }

  /**
   * What a setting says, or the file that the one with 'File' behind it names; null for neither. A
   * file is read when the secret is needed.
   */
  private @Nullable Password secret(String name) {
    String secret = text(name);
    Path file = path(name + "File");
    if (file == null) {
      return secret == null ? null : Password.of(secret);
    }
    if (secret != null) {
      throw wrong(
          name + "File",
          "stands beside %s: give one of them"
              .formatted(name.substring(name.lastIndexOf('.') + 1)));
    }
    return Password.ofFile(file);
  }

  /** What the names of the settings of each entry of a list begin with. */
  private List<String> entries(String list) {
    return IntStream.rangeClosed(1, lengthOfLists.getOrDefault(list, 0))
        .mapToObj(of -> "%s[%s].".formatted(list, of))
        .toList();
  }

  /** Refuses a list in which two entries have one name. */
  private void refuseTwice(String list) {
    Set<String> names = new HashSet<>();
    for (String entry : entries(list)) {
      FileSetting name = given.get(entry + "name");
      if (name != null && !names.add(name.text)) {
        throw wrongValue(entry + "name", "it is there for a second time");
      }
    }
  }

  /** A setting with a value that it cannot have. */
  private GameQueueException wrongValue(String name, String remedy) {
    String raw = Objects.requireNonNull(given.get(name)).raw;
    return wrong(name, "is '%s': %s".formatted(raw, remedy));
  }

  private static GameQueueException wrong(String name, String problem) {
    return new GameQueueException("setting '%s' %s".formatted(name, problem));
  }
}
