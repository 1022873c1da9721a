package io.gameq.writer.schema;

import io.gameq.mysql.MySqlServerCheck;
import io.gameq.mysql.schema.TableInspection;
import io.gameq.mysql.schema.TableSpec;
import io.gameq.writer.mysql.MigrationPlan;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.Function;

/** Prints findings, one line each, details indented below. Used by one thread. */
final class SchemaReport {
  private final PrintWriter out;
  private final String prefix;

  /** Every line begins with the prefix: "-- " among SQL. */
  SchemaReport(PrintWriter out, String prefix) {
    this.out = out;
    this.prefix = prefix;
  }

  void server(MySqlServerCheck server) {
    String name = server.isMariaDb() ? "MariaDB" : "MySQL";
    String verdict = server.refusals().isEmpty() ? "ok" : "cannot be used";
    line("server %s %s: %s".formatted(name, server.version(), verdict));
    server.refusals().forEach(refusal -> line("    reason: " + refusal));
    server.warnings().forEach(warning -> line("    warning: " + warning));
  }

  /**
   * A line for gameq's own tables and one for each configured table.
   *
   * @param ofRows warnings of what a table's rows hold
   */
  void tables(MigrationPlan plan, Function<TableSpec, List<String>> ofRows) {
    boolean own =
        plan.steps().stream()
            .noneMatch(
                step ->
                    step.purpose().startsWith("schema file")
                        || step.purpose().startsWith("setting"));
    line("gameq's own tables: " + (own ? "ok" : "migrate needed"));
    for (TableInspection table : plan.inspection().tables()) {
      line("table %s: %s".formatted(table.spec().name(), verdict(table, plan)));
      details(table);
      if (table.manageable()) {
        ofRows.apply(table.spec()).forEach(warning -> line("    warning: " + warning));
      }
    }
    plan.notices().forEach(notice -> line("notice: " + notice));
  }

  /** Where the rights of users are to be had. */
  void rights() {
    line("users with the least rights: 'security mysql' and 'security redis' print the scripts");
  }

  /** The tables that cannot be managed. */
  void unmanageable(MigrationPlan plan) {
    for (TableInspection table : plan.inspection().tables()) {
      if (!table.manageable()) {
        line("table %s: cannot be managed".formatted(table.spec().name()));
        details(table);
      }
    }
    plan.notices().forEach(notice -> line("notice: " + notice));
  }

  private static String verdict(TableInspection table, MigrationPlan plan) {
    if (!table.manageable()) {
      return "cannot be managed";
    }
    String ending = " of " + table.spec().name();
    return plan.steps().stream().anyMatch(step -> step.purpose().endsWith(ending))
        ? "migrate needed"
        : "ok";
  }

  private void details(TableInspection table) {
    table.reasons().forEach(reason -> line("    reason: " + reason));
    table.warnings().forEach(warning -> line("    warning: " + warning));
  }

  private void line(String text) {
    out.println(prefix + text);
  }
}
