package io.gameq.mysql.schema;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.sign.Protocol;
import io.gameq.term.Terms.QueueIdentity;
import io.gameq.terminal.ClassResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What every node and writer of a database must agree on, in {@code gameq_setting}. Stateless. */
public final class Settings {
  /** Another value makes it another database: WALs that name the one before are not replayed. */
  public static final String DATABASE = "database";

  /** For {@link #spoken}, in a statement that asks for something else anyway. */
  public static final String PROTOCOL =
      "(SELECT value FROM gameq_setting WHERE name = '" + Protocol.NAME + "')";

  private Settings() {}

  /**
   * The protocol of the database, where this build speaks it.
   *
   * @param value of {@link #PROTOCOL}
   * @throws io.gameq.sign.Protocol.UnspokenProtocolException where it does not
   */
  public static Protocol spoken(@Nullable String value) {
    return Protocol.of(value).requireSpoken("the database");
  }

  /**
   * Checks namespace and slots against those of the database, which the first one to come fixes.
   *
   * @throws GameQueueException naming both values when they differ, or that gameq's own tables are
   *     missing or old
   */
  public static void agree(MySql mysql, String namespace, int slots) {
    requireSchema(mysql);
    agree(mysql, "namespace", namespace);
    agree(mysql, "slots", Integer.toString(slots));
  }

  private static void agree(MySql mysql, String name, String value) {
    String there = read(mysql, name);
    if (there == null) { // the first of all: later ones need no right to write here
      mysql.execute("INSERT IGNORE INTO gameq_setting (name, value) VALUES (?, ?)", name, value);
      there = read(mysql, name);
    }
    Optional<String> difference = difference(name, there, value);
    if (difference.isPresent()) {
      throw new GameQueueException(difference.get());
    }
  }

  /**
   * What a configuration has otherwise than the database, for which it is fixed: a sentence each.
   *
   * @param there the database's settings; null for one that it does not have yet
   */
  public static List<String> differences(
      Function<String, @Nullable String> there, String namespace, int slots) {
    return Stream.of(
            difference("namespace", there.apply("namespace"), namespace),
            difference("slots", there.apply("slots"), Integer.toString(slots)))
        .flatMap(Optional::stream)
        .toList();
  }

  private static Optional<String> difference(String name, @Nullable String its, String value) {
    return its == null || its.equals(value)
        ? Optional.empty()
        : Optional.of(
            ("this configuration has %s %s, the database has %s: it is fixed for a database; use"
                    + " %s, or another database")
                .formatted(name, value, its, its));
  }

  /**
   * Which queue it is.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   * @throws io.gameq.sign.Protocol.UnspokenProtocolException as {@link #spoken}
   */
  public static QueueIdentity identity(MySql mysql) {
    return isThere(mysql)
        ? new QueueIdentity(
            Objects.requireNonNullElse(read(mysql, "namespace"), ""),
            Objects.requireNonNullElse(read(mysql, DATABASE), ""),
            spoken(read(mysql, Protocol.NAME)))
        : QueueIdentity.ANY;
  }

  /**
   * Passes when gameq's own tables are there and new enough, and this build speaks their protocol.
   *
   * @throws GameQueueException with the command to run, or as {@link #spoken}
   */
  public static void requireSchema(MySql mysql) {
    String there = isThere(mysql) ? read(mysql, "schema") : null;
    int schema = there == null ? 0 : Integer.parseInt(there);
    if (schema < SchemaFiles.latest()) {
      throw new GameQueueException(
          ("the database has gameq's own tables up to number %s of %s: run the command"
                  + " 'schema migrate' of gameq-writer.jar")
              .formatted(schema, SchemaFiles.latest()));
    }
    Protocol unused = spoken(read(mysql, Protocol.NAME));
  }

  /**
   * The number of slots of the database; 0 when no node or writer has ever used it.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static int slots(MySql mysql) {
    return Integer.parseInt(Objects.requireNonNullElse(read(mysql, "slots"), "0"));
  }

  /**
   * Passes where the database has this number of slots, or none yet.
   *
   * @throws GameQueueException naming both when they differ
   */
  public static void requireSlots(MySql mysql, int slots) {
    int there = slots(mysql);
    if (there != 0 && there != slots) {
      throw new GameQueueException(
          ("the database has %s slots now, this process was started with %s: stop it, set slots"
                  + " to %s, and start it again")
              .formatted(there, slots, there));
    }
  }

  /** Raises the protocol, if it is still {@code from}; returns whether it was. */
  public static boolean raise(MySql mysql, Protocol from, Protocol to) {
    String sql = "INSERT IGNORE INTO gameq_setting (name, value) VALUES (?, ?)";
    return mysql.execute(sql, Protocol.NAME, to.text()) == 1
        || replace(mysql, Protocol.NAME, from.text(), to.text());
  }

  /** Gives a setting another value, if it has {@code from}; returns whether it had. */
  public static boolean replace(MySql mysql, String name, String from, String to) {
    String sql = "UPDATE gameq_setting SET value = ? WHERE name = ? AND value = ?";
    return mysql.execute(sql, to, name, from) == 1;
  }

  /** Whether there are settings at all. */
  public static boolean isThere(MySql mysql) {
    return !mysql
        .list(
            "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name"
                + " = 'gameq_setting'",
            rs -> true)
        .isEmpty();
  }

  /** A setting, or null. */
  public static @Nullable String read(MySql mysql, String name) {
    String sql = "SELECT value FROM gameq_setting WHERE name = ?";
    return mysql.list(sql, rs -> rs.getString(1), name).stream().findFirst().orElse(null);
  }

  /**
   * The numbered schema files that gameq-core carries, in order; stateless. A new file gets the
   * next number; a published one is never changed.
   */
  public static final class SchemaFiles {
    private static final String FOLDER = "/io/gameq/sql/";

    /** A jar cannot list its files: a test holds this list to the folder. */
    private static final List<String> NAMES = List.of("001_baseline.sql");

    private SchemaFiles() {}

    /**
     * One file.
     *
     * @param statements its statements, without comments and semicolons
     */
    public record SchemaFile(int number, String name, List<String> statements) {
      public SchemaFile {
        statements = List.copyOf(statements);
      }
    }

    /** All files by number, which begins at 1. */
    public static List<SchemaFile> all() {
      return NAMES.stream().map(name -> new SchemaFile(number(name), name, read(name))).toList();
    }

    private static int number(String name) {
      return Integer.parseInt(name.substring(0, 3));
    }

    /** The number of the last file: what gameq_setting 'schema' holds once all are applied. */
    public static int latest() {
      return number(NAMES.get(NAMES.size() - 1));
    }

    private static List<String> read(String name) {
      String sql =
          ClassResource.text(SchemaFiles.class, FOLDER + name)
              .lines()
              .filter(line -> !line.startsWith("--"))
              .collect(Collectors.joining("\n"));
      List<String> statements = new ArrayList<>();
      // The files end every statement at the end of a line, and no other line ends like this.
      for (String statement : sql.split(";(\n|$)", -1)) {
        if (!statement.isBlank()) {
          statements.add(statement.strip());
        }
      }
      return statements;
    }
  }
}
