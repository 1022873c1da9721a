package io.gameq.writer.check;

import io.gameq.GameQueueException;
import io.gameq.backlog.Backlog;
import io.gameq.mysql.MySqlServerCheck;
import io.gameq.mysql.schema.TableSpec;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisServerCheck;
import io.gameq.redis.RedisState;
import io.gameq.redis.Slots;
import io.gameq.rows.Catalog;
import io.gameq.rows.Table;
import io.gameq.terminal.ErrorLine;
import io.gameq.terminal.Shown;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.ConfiguredTables;
import io.gameq.writer.mysql.WriterNeeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What the servers of a configuration are worth to a writer; changes nothing. Stateless. */
public final class ServerFindings {
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
                "appendonly is off: when this Redis is restarted nodes put back what they know from"
                    + " their WALs, but messages of nodes that are gone, pauses of topics and the"
                    + " topics themselves may be lost: set appendonly yes"));
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
          Finding.problem(MYSQL, "mysql.url names no database: end it with /name, as in .../game"));
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
