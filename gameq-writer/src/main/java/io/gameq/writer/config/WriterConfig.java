package io.gameq.writer.config;

import io.gameq.GameQueueException;
import io.gameq.config.Password;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisConnector.RedisLogin;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything a gameq.yaml says, with defaults filled in; immutable. Shown without secrets.
 *
 * @param slots shards of owners, a power of two, fixed for a namespace
 * @param tables what the schema commands manage; a writer reads gameq_table, and starts only if
 *     these are there
 * @param node null: there is none in the writer's process
 * @param effective what each setting came to, in the order in which they were read
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
    @Nullable NodeSettings node,
    List<Setting> effective) {

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

  /**
   * What a setting came to; immutable.
   *
   * @param name in full, such as {@code writer.workers}
   * @param value in effect, masked where it is a secret; null for none
   * @param origin {@code default}, {@code file}, or {@code environment variable NAME}
   */
  public record Setting(String name, @Nullable String value, String origin) {}

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

  /**
   * Where a writer answers over HTTP, and whom; immutable. Shown without secrets.
   *
   * @param port 0: nowhere
   * @param isPortGiven whether the configuration file names the port
   * @param tokens one of which requests must carry; none: nobody is asked for one
   * @param tls null: plain HTTP
   * @param isBehindProxy whether requests come from a proxy, whose Forwarded or X-Forwarded headers
   *     say by which name, and from where
   */
  public record HttpSettings(
      String address,
      int port,
      boolean isPortGiven,
      List<AccessToken> tokens,
      @Nullable TlsFiles tls,
      boolean isBehindProxy,
      ConsoleMode console,
      MessageApiMode door) {

    /** As a browser names it: {@code http://127.0.0.1:7420}. */
    public String url(int listensOn) {
      String host = address.contains(":") ? "[" + address + "]" : address;
      return "%s://%s:%s".formatted(tls == null ? "http" : "https", host, listensOn);
    }
  }

  /** What the console is for. */
  public enum ConsoleMode {
    /** There is none. */
    NONE,
    /** To look, whatever role a token has. */
    READ,
    /** To look, and for whoever has a token of that role, to act. */
    ACT
  }

  /** Whether messages may be published and taken over HTTP. */
  public enum MessageApiMode {
    /** No: there are no such paths. */
    NONE,
    /** Yes, by whoever has a token for it. */
    OPEN
  }

  /**
   * Where a writer finds what it needs to answer over HTTPS; immutable.
   *
   * @param certFile PEM: its certificate, then those that lead to a known authority
   * @param keyFile PEM: the key of the first, PKCS #8 and not encrypted
   */
  public record TlsFiles(Path certFile, Path keyFile) {}

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
