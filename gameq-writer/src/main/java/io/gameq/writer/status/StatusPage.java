package io.gameq.writer.status;

import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.backlog.SharedBacklog.TopicBacklog;
import io.gameq.mysql.tables.PauseTable.Pause;
import io.gameq.redis.RedisServerCheck.RedisState;
import io.gameq.redis.script.Waiting;
import io.gameq.redis.topic.TopicMessages.TopicCounts;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.flush.WriterStats.BusyOwners;
import io.gameq.writer.pause.PauseWatch.PauseText;
import io.gameq.writer.terminal.JsonLine;
import java.io.PrintWriter;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;

/** Prints a {@link StatusLook}. Stateless. */
final class StatusPage {
  private static final int MOST_SLOTS = 10;
  private static final double MEGABYTE = 1e6;

  private StatusPage() {}

  static void print(StatusLook look, PrintWriter out) {
    out.printf(Locale.ROOT, "%s at %s UTC%n%n", look.namespace(), Shown.utc(look.at()));
    Backlog backlog = look.backlog();
    TextTable lines = TextTable.withoutHeadings(out, 2);
    if (backlog != null) {
      lines.print(
          List.of(
              List.of("server", redis(backlog.redis())),
              List.of("waiting", waiting(backlog)),
              List.of("claimed", claimed(backlog)),
              List.of("oldest", oldest(backlog)),
              List.of("stale", Shown.count(backlog.sum(Waiting::stale), "session"))));
    }
    if (look.processes() != null) {
      lines.print(
          List.of(
              List.of("nodes", nodes(look.processes())),
              List.of("writers", writers(look.processes()))));
      busiest(look.processes(), lines);
    }
    if (look.deadLetters() >= 0) {
      lines.print(List.of(List.of("dead", Shown.count(look.deadLetters(), "dead letter"))));
    }
    look.pauses().all().forEach(of -> lines.print(List.of(List.of("paused", paused(of)))));
    if (backlog != null) {
      topics(backlog, lines);
      slots(backlog, out);
    }
    out.println();
    List<String> toDo = look.toDo();
    toDo.forEach(out::println);
    if (toDo.isEmpty()) {
      out.println(
          "all is well" + (look.pauses().all().isEmpty() ? "" : ", but for what is paused"));
    }
    out.flush();
  }

  private static String paused(Pause of) {
    return PauseText.what(of) + " " + PauseText.why(of);
  }

  private static String redis(RedisState redis) {
    String most =
        redis.mostBytes() == 0
            ? "no limit"
            : String.format(Locale.ROOT, "limit %,.1f MB", redis.mostBytes() / MEGABYTE);
    return String.format(
        Locale.ROOT,
        "%s, %,.1f MB used, %s, %s, %s",
        redis.version(),
        redis.usedBytes() / MEGABYTE,
        most,
        redis.policy(),
        Shown.count(redis.replicas(), "replica"));
  }

  private static String waiting(Backlog backlog) {
    return "%s, %s%s"
        .formatted(
            Shown.count(waitingOwners(backlog), "owner"),
            isEstimate(backlog) ? "about " : "",
            Shown.count(backlog.rows(), "row"));
  }

  private static boolean isEstimate(Backlog backlog) {
    return backlog.sum(Waiting::counted) < waitingOwners(backlog);
  }

  private static long waitingOwners(Backlog backlog) {
    return backlog.sum(of -> of.due() + of.ready());
  }

  private static String claimed(Backlog backlog) {
    return Shown.count(backlog.sum(Waiting::claimed), "owner");
  }

  private static String oldest(Backlog backlog) {
    return backlog.oldestAgeMillis() == 0 ? "-" : Shown.duration(backlog.oldestAgeMillis());
  }

  /** {@code 2 running, 1 gone}. */
  private static String nodes(Processes processes) {
    StringJoiner all = new StringJoiner(", ");
    for (ListedNode.State state : ListedNode.State.values()) {
      long nodes = processes.nodes(state);
      if (nodes > 0 || state == ListedNode.State.RUNNING) {
        all.add(String.format(Locale.ROOT, "%,d %s", nodes, state.text()));
      }
    }
    return all.toString();
  }

  private static String writers(Processes processes) {
    double rate =
        processes.writers().stream()
            .filter(writer -> !writer.isGone())
            .mapToDouble(writer -> writer.sign().work().rowsPerSecond())
            .sum();
    long gone = processes.writers().size() - processes.writersThere();
    return String.format(
        Locale.ROOT,
        "%,d running, %,.0f rows/s%s",
        processes.writersThere(),
        rate,
        gone == 0 ? "" : String.format(Locale.ROOT, ", %,d gone", gone));
  }

  /** {@code player:387, 1,204 rows in a minute}. */
  private static void busiest(Processes processes, TextTable lines) {
    BusyOwners.together(
            processes.writers().stream()
                .filter(writer -> !writer.isGone())
                .map(writer -> writer.sign().work().busiest())
                .toList())
        .lines()
        .map(line -> line.split(" ", 2))
        .map(of -> "%s, %s in a minute".formatted(Shown.text(of[1]), rows(of[0])))
        .forEach(line -> lines.print(List.of(List.of("busiest", line))));
  }

  private static String rows(String count) {
    return Shown.count(Long.parseLong(count), "row");
  }

  private static void topics(Backlog backlog, TextTable lines) {
    backlog.topics().stream()
        .filter(StatusPage::isToTell)
        .forEach(of -> lines.print(List.of(List.of("topic", topic(of)))));
  }

  private static boolean isToTell(TopicBacklog of) {
    TopicCounts counts = of.counts();
    return counts.dueLanes() + counts.held() + counts.retrying() + counts.dead() > 0
        || of.isPaused();
  }

  /** {@code mail: 3 due, the oldest for 0.100 s, 1 held, 0 tried again, 2 dead, 7 pending}. */
  private static String topic(TopicBacklog of) {
    TopicCounts counts = of.counts();
    return String.format(
        Locale.ROOT,
        "%s: %,d due%s, %,d held, %,d tried again, %,d dead, %,d pending%s",
        of.topic(),
        counts.dueLanes(),
        of.overdueMillis() == 0 ? "" : ", the oldest for " + Shown.duration(of.overdueMillis()),
        counts.held(),
        counts.retrying(),
        counts.dead(),
        counts.pending(),
        of.isPaused() ? ", paused: see 'gameq-writer topics'" : "");
  }

  private static void slots(Backlog backlog, PrintWriter out) {
    List<Waiting> busy = backlog.slots().stream().filter(of -> of.owners() > 0).toList();
    if (busy.isEmpty()) {
      return;
    }
    out.println();
    new TextTable(out, "SLOT", "DUE", "READY", "CLAIMED", "OLDEST")
        .print(
            busy.stream()
                .sorted(Comparator.comparingLong(Waiting::oldestAgeMillis).reversed())
                .limit(MOST_SLOTS)
                .map(StatusPage::cells)
                .toList());
    out.printf(
        Locale.ROOT,
        "%s with rows, of %,d%n",
        Shown.count(busy.size(), "slot"),
        backlog.slots().size());
  }

  private static List<String> cells(Waiting of) {
    return List.of(
        Integer.toString(of.slot()),
        Long.toString(of.due()),
        Long.toString(of.ready()),
        Long.toString(of.claimed()),
        Shown.duration(of.oldestAgeMillis()));
  }

  static String json(StatusLook look) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("namespace", look.namespace());
    all.put("at", look.at().toString());
    Backlog backlog = look.backlog();
    if (backlog != null) {
      RedisState redis = backlog.redis();
      all.put("redis", redis.version());
      all.put("redisUsedBytes", redis.usedBytes());
      all.put("redisMaxBytes", redis.mostBytes());
      all.put("redisPolicy", redis.policy());
      all.put("redisReplicas", redis.replicas());
      all.put("due", backlog.sum(Waiting::due));
      all.put("ready", backlog.sum(Waiting::ready));
      all.put("claimed", backlog.sum(Waiting::claimed));
      all.put("lapsed", backlog.sum(Waiting::lapsed));
      all.put("rows", backlog.rows());
      all.put("rowsAreEstimated", isEstimate(backlog));
      all.put("oldestMillis", backlog.oldestAgeMillis());
      all.put("staleSessions", backlog.sum(Waiting::stale));
      all.put("closing", backlog.sum(Waiting::closing));
      all.put("healing", backlog.sum(Waiting::healing));
      all.put("foreignKeys", backlog.sum(Waiting::foreign));
      all.put("topics", backlog.topics().stream().map(StatusPage::json).toList());
    }
    Processes processes = look.processes();
    if (processes != null) {
      all.put("nodesRunning", processes.nodes(ListedNode.State.RUNNING));
      all.put("nodes", processes.nodes().size());
      all.put("writersRunning", processes.writersThere());
      all.put("writers", processes.writers().size());
    }
    if (look.deadLetters() >= 0) {
      all.put("deadLetters", look.deadLetters());
    }
    all.put("pauses", look.pauses().all().stream().map(StatusPage::pause).toList());
    all.put("toDo", look.toDo());
    return JsonLine.of(all);
  }

  private static Map<String, Object> json(TopicBacklog of) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("topic", of.topic());
    all.put("pending", of.counts().pending());
    all.put("due", of.counts().dueLanes());
    all.put("held", of.counts().held());
    all.put("retrying", of.counts().retrying());
    all.put("dead", of.counts().dead());
    all.put("overdueMillis", of.overdueMillis());
    all.put("isPaused", of.isPaused());
    return all;
  }

  static Map<String, Object> pause(Pause of) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("scope", of.scope().name().toLowerCase(Locale.ROOT));
    all.put("name", of.name());
    all.put("reason", of.reason());
    all.put("by", of.by());
    all.put("at", of.at().toString());
    return all;
  }
}
