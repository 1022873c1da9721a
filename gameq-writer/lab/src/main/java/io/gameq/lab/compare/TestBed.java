package io.gameq.lab.compare;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.ContenderType;
import io.gameq.lab.mysql.StoredRows;
import io.gameq.lab.redis.RedisMemory;
import io.gameq.lab.report.BenchResult;
import io.gameq.lab.report.Figures;
import io.gameq.lab.report.Series;
import io.gameq.lab.scratch.ScratchDirectory;
import io.gameq.lab.workload.Model;
import io.gameq.lab.workload.Workload;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/**
 * What contenders run on, one after the other, and where what they came to is noted. One thread.
 */
final class TestBed {
  private static final List<String> TABLES =
      List.of(
          Workload.PEER_TABLE,
          Workload.TABLE,
          "gameq_owner",
          "gameq_tombstone",
          "gameq_dead_letter");

  private final ContenderSetup setup;
  private final StoredRows rows;
  private final RedisMemory redis;
  private final ScratchDirectory directory;
  private final Output output;

  /** Where what was measured goes. */
  record Output(BenchResult result, PrintWriter err) {}

  TestBed(
      ContenderSetup setup,
      StoredRows rows,
      RedisMemory redis,
      ScratchDirectory directory,
      Output output) {
    this.setup = setup;
    this.rows = rows;
    this.redis = redis;
    this.directory = directory;
    this.output = output;
  }

  /** Empties everything: the next child finds nothing of the one before, its WAL included. */
  ContenderSetup emptied() throws IOException {
    rows.truncate(TABLES);
    redis.deleteMatching("*" + setup.place().name() + "*");
    return setup.with(setup.place().in(directory.emptied("run")));
  }

  StoredRows rows() {
    return rows;
  }

  Figures figures() {
    return output.result().figures();
  }

  Series series(String part, String what, String unit) {
    return output.result().series(part, what, unit);
  }

  /**
   * Compares MySQL row by row, notes what is missing under a part of the figures, and says it.
   *
   * @param what names the comparison
   */
  String check(ContenderType type, String part, String what, Model model) {
    Model.Result check = rows.check(type.table(), model);
    output.result().check(what, check);
    Figures figures = figures();
    figures.add(part, "lost changes", "", (double) check.lostChanges());
    figures.add(part, "lost rows", "", (double) check.lostRows());
    figures.add(part, "torn actions", "", (double) check.tornActions());
    return check.isFlawless()
        ? "MySQL holds everything"
        : String.format(
            Locale.ROOT,
            "LOST %,d changes, %,d rows older than they should be, %,d torn actions, %,d damaged"
                + " rows",
            check.lostChanges(),
            check.lostRows(),
            check.tornActions(),
            check.damagedRows());
  }

  void say(String format, Object... values) {
    output.err().println(String.format(Locale.ROOT, format, values));
  }
}
