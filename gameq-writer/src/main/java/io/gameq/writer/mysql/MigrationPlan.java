package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.Sql;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.schema.Settings.SchemaFiles;
import io.gameq.mysql.schema.Settings.SchemaFiles.SchemaFile;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.mysql.schema.TableInspector.VersionColumn;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.rows.Table;
import io.gameq.sign.Protocol;
import io.gameq.sign.Protocol.ProtocolRange;
import io.gameq.writer.mysql.MigrationPlan.MigrationStep.Way;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jdbi.v3.core.Handle;

/**
 * What separates a database from its configuration, as the statements that would end that;
 * immutable. Empty steps mean that there is nothing to do.
 *
 * @param tables the configured tables
 * @param notices what no statement of ours should change
 */
public record MigrationPlan(
    List<MigrationStep> steps, List<TableInspection> tables, List<String> notices) {

  /** True when every table can be managed, after the missing version columns were added. */
  public boolean manageable() {
    return tables.stream().allMatch(TableInspection::manageable);
  }

  /**
   * What the configuration asks for.
   *
   * @param mayRebuild whether a table may be copied, which blocks whoever writes it meanwhile
   */
  public record Target(String namespace, int slots, List<TableSpec> tables, boolean mayRebuild) {}

  /**
   * The plan from a state to a target.
   *
   * @throws GameQueueException when the database has another namespace, other slots, or schema
   *     files newer than ours, or the target has a table twice
   */
  static MigrationPlan of(SchemaState state, Target target, List<TableInspection> tables) {
    List<MigrationStep> steps = schemaSteps(state);
    List<String> notices = new ArrayList<>();
    List<String> differences =
        Settings.differences(state.settings()::get, target.namespace(), target.slots());
    if (!differences.isEmpty()) {
      throw new GameQueueException(String.join("; ", differences));
    }
    setting(state, "namespace", target.namespace(), steps);
    setting(state, "slots", Integer.toString(target.slots()), steps);
    Set<String> configured = new HashSet<>();
    for (TableInspection table : tables) {
      if (!configured.add(table.spec().name())) {
        throw new GameQueueException(
            "table %s is in the configuration twice, in capitals and in small letters"
                .formatted(table.spec().name()));
      }
      if (table.manageable()) {
        tableSteps(state, target, table, steps);
      }
    }
    for (String name : state.registered().keySet()) {
      if (!configured.contains(name)) {
        notices.add(
            ("table %s is registered but not in the configuration; it stays managed. To"
                    + " give it up once nothing of it waits in Redis: DELETE FROM gameq_table"
                    + " WHERE table_name = %s")
                .formatted(name, literal(name)));
      }
    }
    return new MigrationPlan(steps, tables, notices);
  }

  private static List<MigrationStep> schemaSteps(SchemaState state) {
    if (state.schema() > SchemaFiles.latest()) {
      throw new GameQueueException(
          "the database has schema %s, this program knows up to %s: use a newer gameq-writer"
              .formatted(state.schema(), SchemaFiles.latest()));
    }
    Protocol unused = Settings.spoken(state.settings().get(Protocol.NAME));
    List<MigrationStep> steps = new ArrayList<>();
    for (SchemaFile file : SchemaFiles.all()) {
      if (file.number() > state.schema()) {
        for (String statement : file.statements()) {
          steps.add(MigrationStep.of("schema file " + file.name(), statement));
        }
        // After each file: a run that stops here goes on with the next one.
        steps.add(set("schema file " + file.name(), "schema", Integer.toString(file.number())));
      }
    }
    if (state.schema() == 0) { // nobody has used it: it is not to be raised first
      String newest = Protocol.raised(ProtocolRange.ours().newest(), Actor.here().who()).text();
      steps.add(set("setting " + Protocol.NAME, Protocol.NAME, newest));
    }
    return steps;
  }

  private static void setting(
      SchemaState state, String name, String value, List<MigrationStep> steps) {
    if (!state.settings().containsKey(name)) {
      steps.add(set("setting " + name, name, value));
    }
  }

  private static MigrationStep set(String purpose, String name, String value) {
    return MigrationStep.of(
        purpose,
        ("INSERT INTO gameq_setting (name, value) VALUES (%1$s, %2$s) ON DUPLICATE KEY"
                + " UPDATE value = %2$s")
            .formatted(literal(name), literal(value)));
  }

  private static void tableSteps(
      SchemaState state, Target target, TableInspection table, List<MigrationStep> steps) {
    TableSpec spec = table.spec();
    if (table.versionColumn() == VersionColumn.MISSING) {
      steps.add(addVersion(spec.name(), target.mayRebuild()));
    }
    if (!spec.equals(state.registered().get(spec.name()))) {
      steps.add(
          MigrationStep.of(
              "registration of " + spec.name(),
              ("INSERT INTO gameq_table (table_name, owner_kind, owner_column) VALUES"
                      + " (%1$s, %2$s, %3$s) ON DUPLICATE KEY UPDATE owner_kind = %2$s,"
                      + " owner_column = %3$s")
                  .formatted(
                      literal(spec.name()),
                      literal(spec.ownerKind()),
                      literal(spec.ownerColumn()))));
    }
  }

  private static MigrationStep addVersion(String table, boolean mayRebuild) {
    String alter =
        "ALTER TABLE %s ADD COLUMN %s BIGINT UNSIGNED NOT NULL DEFAULT 0"
            .formatted(JdbcValues.quoted(table), Table.VERSION_COLUMN);
    Way instant = new Way(alter + ", ALGORITHM=INSTANT", "");
    Way online =
        new Way(alter + ", ALGORITHM=INPLACE, LOCK=NONE", "while others read and write the table");
    Way rebuilt = new Way(alter, "rebuilt the table");
    return new MigrationStep(
        "version column of " + table,
        mayRebuild ? List.of(instant, online, rebuilt) : List.of(instant, online),
        mayRebuild
            ? "correct this"
            : "the server would have to rebuild the table, and who writes it would wait: add"
                + " --allow-rebuild when that may be");
  }

  private static String literal(String text) {
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'";
  }

  /**
   * One step of a migration; immutable.
   *
   * @param purpose what it is for, in a few words
   * @param ways the first is tried; another one when the server cannot do the one before it
   * @param remedy what to do when it can do none of them
   */
  public record MigrationStep(String purpose, List<Way> ways, String remedy) {

    /** A step that every server can do. */
    static MigrationStep of(String purpose, String sql) {
      return new MigrationStep(purpose, List.of(new Way(sql, "")), "correct this");
    }

    /**
     * A statement that does the step.
     *
     * @param sql the exact text, without a semicolon
     * @param what it means for the table, in a few words; empty of the first
     */
    public record Way(String sql, String what) {}
  }

  /**
   * What gameq has written into a database about itself; immutable. Empty where it never was.
   *
   * @param settings gameq_setting
   * @param registered gameq_table by table name
   */
  record SchemaState(Map<String, String> settings, Map<String, TableSpec> registered) {

    static SchemaState read(Handle handle) throws SQLException {
      Connection connection = handle.getConnection();
      Map<String, String> settings = new TreeMap<>();
      Map<String, TableSpec> registered = new TreeMap<>();
      if (exists(connection, "gameq_setting")) {
        Sql.select(
            connection,
            "SELECT name, value FROM gameq_setting",
            row -> settings.put(row.getString(1), row.getString(2)));
      }
      if (exists(connection, "gameq_table")) {
        Sql.list(
                connection,
                "SELECT table_name, owner_kind, owner_column FROM gameq_table",
                row -> new TableSpec(row.getString(1), row.getString(2), row.getString(3)))
            .forEach(table -> registered.put(table.name(), table));
      }
      return new SchemaState(settings, registered);
    }

    /** The number of the last schema file applied; 0 when none was. */
    int schema() {
      return Integer.parseInt(settings.getOrDefault("schema", "0"));
    }

    private static boolean exists(Connection connection, String table) throws SQLException {
      return Sql.exists(
          connection,
          "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME"
              + " = ?",
          table);
    }
  }
}
