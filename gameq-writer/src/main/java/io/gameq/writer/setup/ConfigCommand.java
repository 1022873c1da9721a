package io.gameq.writer.setup;

import io.gameq.GameQueueException;
import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.mysql.MySqlServerCheck;
import io.gameq.mysql.schema.CatalogReader.TableSpec;
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
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.config.WriterConfig.Setting;
import io.gameq.writer.mysql.ConfiguredTables;
import io.gameq.writer.mysql.WriterNeeds;
import io.gameq.writer.setup.ConfigCommand.Finding.Weight;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code config}: the parent of the command for the configuration file. */
@Command(
    name = "config",
    description = "Shows and checks the configuration.",
    subcommands = ConfigCommand.ConfigCheckCommand.class)
public final class ConfigCommand implements Runnable {
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

  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    CommandSpec self = Objects.requireNonNull(spec);
    throw new CommandLine.ParameterException(self.commandLine(), "missing command: check");
  }

  /** {@code config check}: the settings in effect, and whether a writer could run with them. */
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
  static final class ConfigCheckCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;
    @Mixin private ConfigOption config = new ConfigOption();

    @Option(names = "--offline", description = "Check the file alone: ask no server.")
    private boolean offline;

    @Option(names = "--json", description = "One JSON object a line, for settings and findings.")
    private boolean json;

    @Override
    public Integer call() {
      PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
      WriterConfig settings = config.read();
      SETTINGS.printer(out, json).accept(settings.effective());
      if (!json) {
        out.println();
      }
      List<Finding> findings = offline ? List.of() : ServerFindings.of(settings);
      findings(out, findings);
      return findings.stream().anyMatch(of -> of.weight() == Weight.PROBLEM)
          ? ExitCodes.FOUND_SOMETHING
          : ExitCodes.OK;
    }

    private void findings(PrintWriter out, List<Finding> findings) {
      if (offline && !json) {
        out.println("the file is fit; no server was asked");
        return;
      }
      Finding.VIEW.printer(out, json).accept(findings);
    }
  }

  /** What the servers of a configuration are worth to a writer; changes nothing. Stateless. */
  static final class ServerFindings {
    private static final String REDIS = "redis";
    private static final String MYSQL = "mysql";
    private static final String DATABASE = "database";
    private static final String RIGHTS = "rights";

    private ServerFindings() {}

    /** Asks both servers; one that is away is a finding. */
    public static List<Finding> of(WriterConfig config) {
      List<Finding> findings = new ArrayList<>();
      redis(config, findings);
      mysql(config, findings);
      return findings;
    }

    private static void redis(WriterConfig config, List<Finding> findings) {
      try (RedisConnector connector = new RedisConnector(config.redis());
          ControlConnection redis = new ControlConnection(connector)) {
        // Checks version, policy and role; then a script over all slots, as writers run them.
        Backlog backlog =
            redis.ask(of -> Backlog.of(of, new Slots(config.namespace(), config.slots())));
        RedisState state = backlog.redis();
        findings.add(Finding.ok(REDIS, state.version() + ", " + state.policy()));
        if (!redis.ask(RedisServerCheck::appends)) {
          findings.add(
              Finding.warning(
                  REDIS,
                  "appendonly is off: when this Redis is restarted nodes put back what they know"
                      + " from their WALs, but messages of nodes that are gone, pauses of topics"
                      + " and the topics themselves may be lost: set appendonly yes"));
        }
        if (state.mostBytes() == 0) {
          findings.add(
              Finding.warning(
                  REDIS,
                  "maxmemory has no limit: set one below the host's memory, so that Redis refuses"
                      + " commits before the host kills it"));
        }
      } catch (GameQueueException e) {
        findings.add(Finding.problem(REDIS, ErrorLine.of(e)));
      }
    }

    private static void mysql(WriterConfig config, List<Finding> findings) {
      if (config.mysql().database().isEmpty()) {
        findings.add(
            Finding.problem(
                MYSQL, "mysql.url names no database: end it with /name, as in .../game"));
        return;
      }
      try (WriterNeeds needs = WriterNeeds.open(config.mysql())) {
        MySqlServerCheck server = needs.server();
        server.refusals().forEach(refusal -> findings.add(Finding.problem(MYSQL, refusal)));
        if (server.refusals().isEmpty()) {
          findings.add(
              Finding.ok(MYSQL, (server.isMariaDb() ? "MariaDB " : "MySQL ") + server.version()));
        }
        server.warnings().forEach(warning -> findings.add(Finding.warning(MYSQL, warning)));
        List<String> problems = needs.problemsOfSchema(config.namespace(), config.slots());
        problems.forEach(problem -> findings.add(Finding.problem(DATABASE, problem)));
        if (problems.isEmpty()) {
          findings.add(
              Finding.ok(
                  DATABASE,
                  String.format(
                      Locale.ROOT,
                      "%s, namespace %s with %,d slots",
                      config.mysql().database(),
                      config.namespace(),
                      config.slots())));
          Catalog catalog = needs.tables();
          tables(config, catalog, findings);
          rights(needs.missingRights(catalog.tables()), findings);
        }
      } catch (GameQueueException e) {
        findings.add(Finding.problem(MYSQL, ErrorLine.of(e)));
      }
    }

    private static void tables(WriterConfig config, Catalog catalog, List<Finding> findings) {
      new TreeMap<>(catalog.unmanaged())
          .forEach(
              (name, reason) ->
                  findings.add(Finding.problem("table " + name, "cannot be managed: " + reason)));
      for (TableSpec table : config.tables()) {
        String problem = ConfiguredTables.problem(table, catalog);
        if (problem != null && !catalog.unmanaged().containsKey(table.name())) {
          findings.add(Finding.problem("table " + table.name(), problem));
        }
      }
      findings.add(
          Finding.ok(
              "tables",
              Shown.count(catalog.tables().size(), "managed table")
                  + catalog.tables().stream()
                      .map(Table::name)
                      .collect(Collectors.joining(", ", ": ", ""))));
    }

    private static void rights(List<String> missing, List<Finding> findings) {
      missing.forEach(
          right ->
              findings.add(
                  Finding.problem(RIGHTS, "the user lacks %s: GRANT it to him".formatted(right))));
      if (missing.isEmpty()) {
        findings.add(Finding.ok(RIGHTS, "the user may write all of these, and gameq's own tables"));
      }
    }
  }

  /**
   * What a check found; immutable.
   *
   * @param subject what was looked at, in a word or two
   * @param text what it is, or what is wrong with it and the remedy
   */
  record Finding(String subject, Weight weight, String text) {
    static final RecordView<Finding> VIEW =
        new RecordView<Finding>()
            .field("CHECK", "check", Finding::subject)
            .field("", "weight", Finding::weight)
            .field("", "text", Finding::text);

    /** How much it matters. */
    public enum Weight {
      OK,
      /** It works, but less safely than one may expect. */
      WARNING,
      /** A writer does not start, or does not do all its work. */
      PROBLEM
    }

    static Finding ok(String subject, String text) {
      return new Finding(subject, Weight.OK, text);
    }

    static Finding warning(String subject, String text) {
      return new Finding(subject, Weight.WARNING, text);
    }

    static Finding problem(String subject, String text) {
      return new Finding(subject, Weight.PROBLEM, text);
    }
  }
}
