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
import io.gameq.mysql.MySqlConfig;
import io.gameq.mysql.schema.TableSpec;
import io.gameq.redis.RedisConfig;
import io.gameq.redis.RedisLogin;
import io.gameq.redis.script.ClaimScript.Bounds;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
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
}
