package io.gameq.writer.stale;

import io.gameq.agent.RateLimit;
import io.gameq.redis.script.StaleRows;
import io.gameq.redis.script.StaleRows.Listed;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.terminal.JsonLine;
import io.gameq.writer.terminal.RateOption;
import java.io.PrintWriter;
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
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code stale list}: sessions with stale rows. */
@Command(
    name = "list",
    description = "Lists sessions with stale rows, slot by slot; reads Redis only.",
    footer = {
      "",
      "States: lost (the rows are never flushed), owns now (Redis has the session as the owner's"
          + " again, after a failover: the rows will be flushed). Of a session with many rows, ~"
          + " marks what is told by some of them."
    })
final class StaleListCommand implements Callable<Integer> {
  private static final int MOST_AT_ONCE = 500;

  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();
  @Mixin private RateOption rate = new RateOption();

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Most sessions to list, and perhaps some more (default: ${DEFAULT-VALUE}).")
  private int limit = 1_000;

  @Option(
      names = "--after",
      paramLabel = "PLACE",
      description = "To go on where the last list ended, as it said.")
  private String after = "";

  @Option(
      names = "--json",
      description = "One JSON object a line, nothing else; times in UTC, versions as text.")
  private boolean json;

  /** Returns 1 when rows of a session are lost, or not all sessions were listed. */
  @Override
  public Integer call() {
    CommandSpec self = Objects.requireNonNull(spec);
    if (limit < 1) {
      throw new ParameterException(self.commandLine(), "--limit is a number from 1 on");
    }
    PrintWriter out = self.commandLine().getOut();
    TextTable table =
        new TextTable(out, "OWNER", "SESSION", "ROWS", "BYTES", "NEWEST (UTC)", "STATE");
    long listed = 0;
    long rows = 0;
    boolean isAnyLost = false;
    StaleRows.Page page;
    try (StaleRows stale = StaleNames.open(AgreedConfig.readWithRedis(config, self))) {
      RateLimit pace = rate.limit();
      String next = after;
      do {
        page = stale.page(next, (int) pace.burst(Math.min(MOST_AT_ONCE, limit - listed)));
        pace.take(page.sessions().size());
        if (json) {
          page.sessions().forEach(of -> out.println(JsonLine.of(values(of))));
        } else {
          table.print(page.sessions().stream().map(StaleListCommand::cells).toList());
        }
        listed += page.sessions().size();
        rows += page.sessions().stream().mapToLong(Listed::rows).sum();
        isAnyLost |= page.sessions().stream().anyMatch(of -> !of.session().ownsNow());
        next = page.next();
      } while (!next.isEmpty() && listed < limit);
    }
    if (!json) {
      out.println(Shown.count(listed, "session") + " with " + Shown.count(rows, "stale row"));
    }
    if (!page.next().isEmpty()) {
      (json ? self.commandLine().getErr() : out)
          .printf(
              Locale.ROOT,
              "there are %,d sessions: --limit lists more, --after %s the next ones%n",
              page.count(),
              page.next());
    }
    return isAnyLost || !page.next().isEmpty() ? ExitCodes.FOUND_SOMETHING : ExitCodes.OK;
  }

  private static List<String> cells(Listed of) {
    String about = of.isAbout() ? "~" : "";
    return List.of(
        Shown.text(of.session().owner().id()),
        of.session().session().text(),
        Long.toString(of.rows()),
        about + of.bytes(),
        of.rows() == 0 ? "" : about + Shown.utc(Shown.time(of.newestVersion())),
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
    values.put("isAbout", of.isAbout());
    values.put("ownsNow", of.session().ownsNow());
    return values;
  }
}
