package io.gameq.writer.status;

import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.script.ProcessSigns.ProcessSign;
import io.gameq.sign.SignFields;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.ConfigReader.WriterConfig;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.status.WriterSigns.WriterSign;
import io.gameq.writer.terminal.JsonLine;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code writers}: the writers, and whether there is something to act on. */
@Command(
    name = "writers",
    description =
        "Lists writers as they say of themselves every 3 s, also those that ended otherwise than in"
            + " order within the last hour; reads Redis only.",
    footer = {
      "",
      "What a writer that is gone had claimed, others take over; its rows are not lost.",
      "Ends with 1 when there is something to act on, which the last lines name."
    })
public final class WritersCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Option(names = "--json", description = "One JSON object a line, nothing else; times in UTC.")
  private boolean json;

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    WriterConfig settings = AgreedConfig.readWithRedis(config, Objects.requireNonNull(spec));
    try (RedisConnector connector = new RedisConnector(settings.redis());
        ControlConnection redis = new ControlConnection(connector)) {
      Processes all = redis.ask(connection -> Processes.of(connection, settings.namespace()));
      List<String> toDo = new ArrayList<>();
      if (all.writersThere() == 0) {
        toDo.add("no writer runs: nothing is written to MySQL");
      }
      all.writers().forEach(writer -> toDo.addAll(writer.toDo()));
      if (json) {
        all.writers().forEach(writer -> out.println(WritersPage.json(writer)));
      } else {
        WritersPage.print(all.writers(), out);
        toDo.forEach(out::println);
      }
      return toDo.isEmpty() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }

  /** Prints writers. Stateless. */
  static final class WritersPage {
    private WritersPage() {}

    static void print(List<ListedWriter> writers, PrintWriter out) {
      new TextTable(
              out, "WRITER", "ID", "HOST", "VERSION", "STATE", "UP", "WORKERS", "CLAIMS", "FLUSHES",
              "ROWS", "ROWS/S", "FLUSHED", "MYSQL", "PARKED")
          .leavingOut("VERSION", "HOST", "FLUSHES", "CLAIMS", "WORKERS", "UP", "ID")
          .print(writers.stream().map(WritersPage::cells).toList());
      out.println(Shown.count(writers.size(), "writer"));
    }

    private static List<String> cells(ListedWriter writer) {
      WriterSign sign = writer.sign();
      WriterSign.Work work = sign.work();
      List<String> cells = new ArrayList<>(NodesPage.identity(writer.id(), sign.process()));
      cells.add(Shown.text(writer.state()));
      cells.add(writer.isGone() ? "-" : NodesPage.ago(sign.process().startedMillis()));
      cells.add(Long.toString(work.workers()));
      cells.add(Long.toString(work.claims()));
      cells.add(String.format(Locale.ROOT, "%,d", work.flushes()));
      cells.add(String.format(Locale.ROOT, "%,d", work.rows()));
      cells.add(String.format(Locale.ROOT, "%,.0f", work.rowsPerSecond()));
      cells.add(NodesPage.ago(work.flushedMillis()));
      cells.add(sign.outage() ? "away" : "there");
      cells.add(sign.parked().isEmpty() ? "-" : Shown.text(sign.parked()));
      return cells;
    }

    static String json(ListedWriter writer) {
      Map<String, Object> all = new LinkedHashMap<>();
      all.put("id", writer.id());
      all.put("state", writer.state());
      all.put("silentMillis", writer.silentMillis());
      all.put("aheadMillis", writer.aheadMillis());
      all.putAll(NodesPage.shown(writer.sign()));
      all.put("toDo", writer.toDo());
      return JsonLine.of(all);
    }
  }

  /**
   * A writer, by what it said last. Immutable.
   *
   * @param id of this start of it, 8 hex digits
   * @param silentMillis how long ago it said so
   * @param aheadMillis by how much its host's clock was ahead of Redis' then; negative when behind
   * @param isGone whether that is too long ago for one that runs
   */
  public record ListedWriter(
      String id, long silentMillis, long aheadMillis, boolean isGone, WriterSign sign) {
    /** What it was doing is of use no longer than this; its claims have been taken over by then. */
    private static final long SHOWN_GONE_MILLIS = 3_600_000;

    /** What a writer is doing that cannot say so. */
    private static final String GONE = "gone";

    static ListedWriter of(ProcessSign said) {
      return new ListedWriter(
          said.id(),
          said.silentMillis(),
          said.aheadMillis(),
          !said.isFresh(),
          SignFields.read(WriterSign.class, said.fields()));
    }

    /** Whether anybody wants to know of it still. */
    boolean isWorthShowing() {
      return silentMillis < SHOWN_GONE_MILLIS;
    }

    /** What it is doing, as operators read it. */
    public String state() {
      return isGone ? GONE : sign.phase();
    }

    /** What is to be done about it, each in one line; empty when all is well. */
    public List<String> toDo() {
      List<String> all = new ArrayList<>();
      if (!isGone && sign.outage()) {
        all.add("%s does not reach MySQL: rows wait in Redis".formatted(who()));
      }
      if (!isGone && !sign.parked().isEmpty()) {
        all.add(
            "%s cannot write to %s: its log says why".formatted(who(), Shown.text(sign.parked())));
      }
      if (!isGone) {
        Processes.clock(who(), aheadMillis, all);
      }
      return all;
    }

    private String who() {
      return "writer " + Shown.text(sign.process().name());
    }
  }
}
