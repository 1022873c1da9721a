package io.gameq.recovery;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.gameq.healing.LeftMessages;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.PlannedRow.Contents;
import io.gameq.healing.Planner;
import io.gameq.healing.Status;
import io.gameq.healing.WalRow;
import io.gameq.healing.WalSet;
import io.gameq.recovery.ServerOptions.Servers;
import io.gameq.terminal.Shown;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code verify}: compares WALs, Redis and MySQL row by row. */
@Command(
    name = "verify",
    description =
        "Compares the newest change of each row in WALs with what Redis and MySQL hold, versions"
            + " and values. Changes nothing.",
    footer = {
      "",
      "Exit code 0: MySQL holds every row, in its version and with its values, or a newer one, and"
          + " nobody writes these WALs any more: nothing needs them (with --owner: nothing of these"
          + " owners).",
      "Exit code 1: a row is missing, older or different, was refused, or a WAL is damaged: act on"
          + " it.",
      "Exit code 3: nothing to act on, but keep the WALs, and verify again later: some rows are"
          + " only in Redis, on their way to MySQL, or a node is alive and writes on."
    })
final class VerifyCommand implements Callable<Integer> {
  private static final JsonFactory JSON = new JsonFactory();

  @Spec private @Nullable CommandSpec spec;
  @Mixin private ServerOptions servers = new ServerOptions();
  @Mixin private OwnerOption owners = new OwnerOption();
  @Mixin private WalArguments arguments = new WalArguments();

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Most differences to print (default: ${DEFAULT-VALUE}).")
  private int limit = 20;

  @Option(
      names = "--json",
      description =
          "One JSON object a line for each difference, with values, then one with the counts;"
              + " nothing else.")
  private boolean json;

  @Override
  public Integer call() {
    CommandSpec self = Objects.requireNonNull(spec);
    PrintWriter out = self.commandLine().getOut();
    ProgressLine progress = new ProgressLine(self.commandLine().getErr());
    WalSet wals = arguments.open();
    try (Servers open = servers.open(wals)) {
      PlanTotals totals = new PlanTotals(wals.folders().get(0).header().slots());
      Planner planner =
          new Planner(
              wals,
              open.lookups(),
              new Planner.Options(owners.encoded(), true, json, true),
              progress::step);
      int[] printed = {0};
      planner.plan(
          new Planner.Sink() {
            @Override
            public void row(PlannedRow row) {
              totals.row(row);
              if (row.status().callsForAction() && (json || printed[0]++ < limit)) {
                progress.end();
                out.println(json ? asJson(row) : asText(row));
              }
            }
          });
      progress.end();
      owners.requireFound(totals);
      LeftMessages.Totals messages = LeftMessages.totals(open.lookups(), planner.gone());
      if (json) {
        out.println(asJson(totals, messages));
      } else {
        if (printed[0] > limit) {
          out.println("... and %,d more: --limit or --json".formatted(printed[0] - limit));
        }
        Summary.wals(out, wals, planner.alive());
        Summary.totals(out, totals);
        Summary.messages(out, messages);
        out.println();
        out.println(conclusion(totals, messages, planner, wals));
      }
      int exitCode = RecoveryMain.exitCode(totals, messages, wals);
      return exitCode == RecoveryMain.CLEAN && needsWals(totals, planner)
          ? RecoveryMain.KEEP_THE_WALS
          : exitCode;
    }
  }

  /**
   * Whether a loss of Redis, or the next commit, makes these WALs the only place that has a row.
   */
  private static boolean needsWals(PlanTotals totals, Planner planner) {
    return totals.rows(Status.IN_REDIS) > 0 || !planner.alive().isEmpty();
  }

  private String conclusion(
      PlanTotals totals, LeftMessages.Totals messages, Planner planner, WalSet wals) {
    if (RecoveryMain.exitCode(totals, messages, wals) != RecoveryMain.CLEAN) {
      return "Something is left to act on. Keep the WALs.";
    }
    if (totals.rows(Status.IN_REDIS) > 0) {
      return ("%s only in Redis, and lost if Redis loses them: keep the WALs, and verify again"
              + " once writers have flushed.")
          .formatted(Shown.count(totals.rows(Status.IN_REDIS), "row"));
    }
    if (!planner.alive().isEmpty()) {
      return "All of it is in MySQL, but a node is alive and writes on: keep its WAL.";
    }
    return owners.encoded().isEmpty()
        ? "All of it is in MySQL: these WALs may be removed."
        : "All of it is in MySQL, of these owners. Keep the WALs: others were not compared.";
  }

  /** {@code item:42,3 of player:42: lost, version 7 (...); MySQL has version 5, Redis none} */
  private static String asText(PlannedRow row) {
    String reason = row.reason();
    return "%s %s: %s, version %s; MySQL has %s, Redis has %s%s"
        .formatted(
            Shown.text(row.change().key()),
            Shown.whose(row.owner()),
            difference(row),
            Shown.version(row.change().version()),
            version(row.mysqlVersion()),
            version(row.redisVersion()),
            reason.isEmpty() ? "" : ": " + Shown.text(reason));
  }

  /** An engineer asks whether there is something older, or nothing. */
  private static String difference(PlannedRow row) {
    if (row.status() == Status.LOST) {
      return row.mysqlVersion() == null && row.redisVersion() == null ? "missing" : "older";
    }
    return row.status().name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private static String version(@Nullable Long version) {
    return version == null ? "none" : "version " + Long.toUnsignedString(version);
  }

  private static String asJson(PlannedRow row) {
    WalRow change = row.change();
    Contents contents = row.contents();
    return text(
        line -> {
          line.writeStringField("owner", row.owner().id());
          line.writeStringField("table", change.table());
          line.writeStringField("key", change.keyText());
          line.writeStringField("difference", difference(row));
          line.writeStringField("reason", row.reason());
          RowJson.writeSession(line, change);
          line.writeStringField("version", Long.toUnsignedString(change.version()));
          line.writeStringField("time", Shown.time(change.version()).toString());
          line.writeStringField("mysqlVersion", RowJson.version(row.mysqlVersion()));
          line.writeStringField("redisVersion", RowJson.version(row.redisVersion()));
          line.writeFieldName("wal");
          RowJson.write(line, contents == null ? null : contents.wal());
          line.writeFieldName("mysql");
          RowJson.write(line, contents == null ? null : contents.mysql());
          line.writeFieldName("redis");
          RowJson.write(line, contents == null ? null : contents.redis());
        });
  }

  private static String asJson(PlanTotals totals, LeftMessages.Totals messages) {
    return text(
        line -> {
          line.writeNumberField("rows", totals.all());
          line.writeNumberField("owners", totals.allOwners());
          line.writeNumberField("messageChanges", messages.changes());
          line.writeNumberField("messagesLacking", messages.lacking());
          for (Status status : Status.values()) {
            line.writeNumberField(status.name().toLowerCase(Locale.ROOT), totals.rows(status));
          }
        });
  }

  private interface Fields {
    void write(JsonGenerator line) throws IOException;
  }

  private static String text(Fields fields) {
    StringWriter text = new StringWriter();
    try (JsonGenerator line = JSON.createGenerator(text)) {
      line.writeStartObject();
      fields.write(line);
      line.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }
}
