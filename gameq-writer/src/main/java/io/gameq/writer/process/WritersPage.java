package io.gameq.writer.process;

import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.terminal.JsonLine;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Prints writers. Stateless. */
final class WritersPage {
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
