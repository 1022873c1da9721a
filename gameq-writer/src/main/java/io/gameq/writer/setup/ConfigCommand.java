package io.gameq.writer.setup;

import io.gameq.GameQueueException;
import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlServerCheck;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisServerCheck;
import io.gameq.redis.RedisServerCheck.RedisState;
import io.gameq.redis.Slots;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.Table;
import io.gameq.terminal.ErrorLine;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.admin.RecordView;
import io.gameq.writer.cli.AdminCommand;
import io.gameq.writer.config.DeclaredSetting;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.config.WriterConfig.Setting;
import io.gameq.writer.mysql.WriterRequirements;
import io.gameq.writer.setup.ConfigCommand.CheckResult.Severity;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code config}: shows and checks the configuration file; lists what it may have. */
@Command(name = "config", description = "Shows and checks the configuration.")
public final class ConfigCommand extends AdminCommand {
  /** Settings, as command and console show them. */
  public static final RecordView<Setting> SETTINGS =
      new RecordView<Setting>()
          .field("SETTING", "setting", Setting::name)
          .field(
              "VALUE",
              "value",
              Setting::value,
              of -> Shown.text(Objects.requireNonNullElse(of.value(), "none")))
          .field("FROM", "from", Setting::origin);

  @Command(
      name = "check",
      description =
          "Prints the settings in effect and where each is from, secrets masked, and checks whether"
              + " a writer can run with them; changes nothing.",
      footer = {
        "",
        "Ends with 2 when the file cannot be read or a setting is wrong, with 1 when a server, the"
            + " database or the user's rights are not as a writer needs them; warnings end with 0."
      })
  int check(
      @Option(names = "--offline", description = "Check the file alone: ask no server.")
          boolean offline,
      @Option(names = "--json", description = "One JSON object a line, for settings and findings.")
          boolean json) {
    WriterConfig settings = config().read();
    SETTINGS.printer(out(), json).accept(settings.effective());
    if (!json) {
      out().println();
    }
    List<CheckResult> findings = offline ? List.of() : new ServerFindings(settings).all();
    if (offline && !json) {
      out().println("the file is fit; no server was asked");
    } else {
      CheckResult.VIEW.printer(out(), json).accept(findings);
    }
    return findings.stream().anyMatch(of -> of.weight() == Severity.PROBLEM)
        ? ExitCodes.FOUND_SOMETHING
        : ExitCodes.OK;
  }

  @Command(
      name = "settings",
      description = "Prints every setting with default, range and meaning; reads no file.")
  void settings() {
    out().print(DeclaredSetting.table());
  }

  /** What the servers of a configuration are worth to a writer; changes nothing. */
  private static final class ServerFindings {
    private final WriterConfig config;
    private final List<CheckResult> findings = new ArrayList<>();

    ServerFindings(WriterConfig config) {
      this.config = config;
    }

    /** Asks both servers; one that is away is a finding. */
    List<CheckResult> all() {
      redis();
      mysql();
      return findings;
    }

    private void add(String subject, Severity weight, String text) {
      findings.add(new CheckResult(subject, weight, text));
    }

    private void redis() {
      try (RedisConnector connector = new RedisConnector(config.redis());
          ControlConnection redis = new ControlConnection(connector)) {
        // Checks version, policy and role; then a script over all slots, as writers run them.
        Backlog backlog =
            redis.ask(of -> Backlog.of(of, new Slots(config.namespace(), config.slots())));
        RedisState state = backlog.redis();
        add("redis", Severity.OK, state.version() + ", " + state.policy());
        if (!redis.ask(RedisServerCheck::appends)) {
          add(
              "redis",
              Severity.WARNING,
              "appendonly is off: when this Redis is restarted nodes put back what they know"
                  + " from their WALs, but messages of nodes that are gone, pauses of topics"
                  + " and the topics themselves may be lost: set appendonly yes");
        }
        if (state.mostBytes() == 0) {
          add(
              "redis",
              Severity.WARNING,
              "maxmemory has no limit: set one below the host's memory, so that Redis refuses"
                  + " commits before the host kills it");
        }
      } catch (GameQueueException e) {
        add("redis", Severity.PROBLEM, ErrorLine.of(e));
      }
    }

    private void mysql() {
      String database = config.mysql().database();
      if (database.isEmpty()) {
        add(
            "mysql",
            Severity.PROBLEM,
            "mysql.url names no database: end it with /name, as in .../game");
        return;
      }
      try (MySql mysql = MySqlPool.open(config.mysql().withPoolSize(2), "check")) {
        MySqlServerCheck server = MySqlServerCheck.of(mysql);
        server.refusals().forEach(refusal -> add("mysql", Severity.PROBLEM, refusal));
        if (server.refusals().isEmpty()) {
          String name = server.isMariaDb() ? "MariaDB " : "MySQL ";
          add("mysql", Severity.OK, name + server.version());
        }
        server.warnings().forEach(warning -> add("mysql", Severity.WARNING, warning));
        List<String> problems =
            WriterRequirements.problemsOfSchema(mysql, config.namespace(), config.slots());
        problems.forEach(problem -> add("database", Severity.PROBLEM, problem));
        if (problems.isEmpty()) {
          add(
              "database",
              Severity.OK,
              Shown.line(
                  "%s, namespace %s with %,d slots", database, config.namespace(), config.slots()));
          Catalog catalog = CatalogReader.read(mysql);
          tables(catalog);
          rights(WriterRequirements.missingRights(mysql, catalog.tables()));
        }
      } catch (GameQueueException e) {
        add("mysql", Severity.PROBLEM, ErrorLine.of(e));
      }
    }

    private void tables(Catalog catalog) {
      new TreeMap<>(catalog.unmanaged())
          .forEach(
              (name, reason) ->
                  add("table " + name, Severity.PROBLEM, "cannot be managed: " + reason));
      for (TableSpec table : config.tables()) {
        String problem = WriterRequirements.problem(table, catalog);
        if (problem != null && !catalog.unmanaged().containsKey(table.name())) {
          add("table " + table.name(), Severity.PROBLEM, problem);
        }
      }
      String names = catalog.tables().stream().map(Table::name).collect(Collectors.joining(", "));
      String count = Shown.count(catalog.tables().size(), "managed table");
      add("tables", Severity.OK, count + ": " + names);
    }

    private void rights(List<String> missing) {
      missing.forEach(
          right ->
              add(
                  "rights",
                  Severity.PROBLEM,
                  "the user lacks %s: GRANT it to him".formatted(right)));
      if (missing.isEmpty()) {
        add("rights", Severity.OK, "the user may write all of these, and gameq's own tables");
      }
    }
  }

  /**
   * What a check found; immutable.
   *
   * @param subject what was looked at, in a word or two
   * @param text what it is, or what is wrong with it and the remedy
   */
  record CheckResult(String subject, Severity weight, String text) {
    static final RecordView<CheckResult> VIEW =
        new RecordView<CheckResult>()
            .field("CHECK", "check", CheckResult::subject)
            .field("", "weight", CheckResult::weight)
            .field("", "text", CheckResult::text);

    /** How much it matters. */
    public enum Severity {
      OK,
      /** It works, but less safely than one may expect. */
      WARNING,
      /** A writer does not start, or does not do all its work. */
      PROBLEM
    }
  }
}
