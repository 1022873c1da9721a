package io.gameq.writer.status;

import io.gameq.sign.NodeSign;
import io.gameq.sign.ProcessIdentity;
import io.gameq.sign.SignFields;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.terminal.JsonLine;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Prints nodes. Stateless. */
final class NodesPage {
  private static final double MEGABYTE = 1e6;

  /** Of what a process says of itself, these are no durations: ms since 1970, 0 for never. */
  private static final Set<String> MOMENTS =
      Set.of("startedMillis", "healedMillis", "flushedMillis");

  private NodesPage() {}

  static void print(List<ListedNode> nodes, PrintWriter out) {
    new TextTable(
            out,
            "NODE",
            "ID",
            "HOST",
            "VERSION",
            "STATE",
            "UP",
            "SESSIONS",
            "LOST",
            "WAITING",
            "JOURNALED",
            "WAL",
            "OLDEST",
            "HEALED",
            "CONFLICTS")
        .leavingOut("VERSION", "HOST", "CONFLICTS", "HEALED", "JOURNALED", "LOST", "UP", "ID")
        .print(nodes.stream().map(NodesPage::cells).toList());
    out.println(Shown.count(nodes.size(), "node"));
  }

  private static List<String> cells(ListedNode node) {
    NodeSign sign = node.sign();
    List<String> cells = new ArrayList<>(identity(node.id(), sign.process()));
    cells.add(node.state().text());
    cells.add(node.isThere() ? ago(sign.process().startedMillis()) : "-");
    cells.add(Long.toString(sign.sessions().sessions()));
    cells.add(Long.toString(sign.sessions().sessionsLost()));
    cells.add(Long.toString(sign.commits().waiting()));
    cells.add(Long.toString(sign.wal().journaled()));
    cells.add(String.format(Locale.ROOT, "%,.1f MB", sign.wal().walBytes() / MEGABYTE));
    cells.add(sign.wal().oldestMillis() == 0 ? "-" : Shown.duration(sign.wal().oldestMillis()));
    cells.add(ago(sign.healings().healedMillis()));
    cells.add(Long.toString(sign.healings().conflicts()));
    return cells;
  }

  /** The first cells of a process. */
  static List<String> identity(String id, ProcessIdentity of) {
    return List.of(
        Shown.text(of.name()), Shown.text(id), Shown.text(of.host()), Shown.text(of.version()));
  }

  /** How long ago that was by this host's clock, if it was. */
  static String ago(long millis) {
    long seconds = Math.max(0, System.currentTimeMillis() - millis) / 1_000;
    return millis == 0 ? "-" : seconds < 60 ? seconds + " s" : Shown.duration(seconds * 1_000);
  }

  /** What a process says of itself, for programs: moments are text. */
  static Map<String, Object> shown(Record sign) {
    Map<String, Object> all = new LinkedHashMap<>();
    SignFields.values(sign)
        .forEach(
            (name, value) -> {
              if (MOMENTS.contains(name)) {
                all.put(name.replace("Millis", "At"), JsonLine.moment((long) value));
              } else {
                all.put(name, value);
              }
            });
    return all;
  }

  static String json(ListedNode node) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("id", node.id());
    all.put("state", node.state().tag());
    all.put("silentMillis", node.silentMillis());
    all.put("aheadMillis", node.aheadMillis());
    all.putAll(shown(node.sign()));
    all.put("toDo", node.toDo());
    return JsonLine.of(all);
  }
}
