package io.gameq.writer.stale;

import io.gameq.redis.script.StaleRows;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.stale.StaleSessions.Listed;
import io.gameq.writer.terminal.JsonLine;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code stale list}: sessions with stale rows. */
@Command(
    name = "list",
    description = "Lists sessions with stale rows; reads Redis only.",
    footer = {
      "",
      "States: lost (the rows are never flushed), owns now (Redis has the session as the owner's"
          + " again, after a failover: the rows will be flushed)."
    })
final class StaleListCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Option(
      names = "--json",
      description = "One JSON object a line, nothing else; times in UTC, versions as text.")
  private boolean json;

  /** Returns 1 when rows of a session are lost. */
  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    List<Listed> listed;
    try (StaleRows stale =
        StaleNames.open(AgreedConfig.readWithRedis(config, Objects.requireNonNull(spec)))) {
      listed = StaleSessions.list(stale, stale.sessions());
    }
    if (json) {
      listed.forEach(of -> out.println(JsonLine.of(values(of))));
    } else {
      new TextTable(out, "OWNER", "SESSION", "ROWS", "BYTES", "NEWEST (UTC)", "STATE")
          .print(listed.stream().map(StaleListCommand::cells).toList());
      out.println(
          Shown.count(listed.size(), "session")
              + " with "
              + Shown.count(listed.stream().mapToLong(Listed::rows).sum(), "stale row"));
    }
    return listed.stream().allMatch(of -> of.session().ownsNow())
        ? ExitCodes.OK
        : ExitCodes.FOUND_SOMETHING;
  }

  private static List<String> cells(Listed of) {
    return List.of(
        Shown.text(of.session().owner().id()),
        of.session().session().text(),
        Integer.toString(of.rows()),
        Long.toString(of.bytes()),
        of.rows() == 0 ? "" : Shown.utc(Shown.time(of.newestVersion())),
        of.session().ownsNow() ? "owns now" : "lost");
  }

  private static Map<String, Object> values(Listed of) {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("owner", of.session().owner().id());
    values.put("session", of.session().session().text());
    values.put("rows", of.rows());
    values.put("bytes", of.bytes());
    values.put("newestVersion", Long.toUnsignedString(of.newestVersion()));
    values.put("newest", Shown.time(of.newestVersion()).toString());
    values.put("ownsNow", of.session().ownsNow());
    return values;
  }
}
