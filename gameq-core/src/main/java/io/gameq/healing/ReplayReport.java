package io.gameq.healing;

import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.terminal.Shown;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a replay did. Not thread-safe. */
public final class ReplayReport {
  /** A later session has opened another owner meanwhile: the next plan tells which. */
  public static final String COMMITTED_WITH_REFUSED =
      "what they were committed together with is refused now: plan again";

  /** More are counted, not named. */
  private static final int MOST_NAMED = 20;

  private final List<String> named = new ArrayList<>();
  private final Map<String, String> closed = new TreeMap<>();
  private final Map<String, Long> closedRows = new HashMap<>();
  private long rows;
  private long written;
  private long refused;
  private boolean overtaken;
  private long setAside;
  private long restored;
  private long takenOver;

  /** Rows were handed to the target, which wrote so many of them: it had the others. */
  public void wrote(long of, long itWrote) {
    rows += of;
    written += itWrote;
  }

  /** An owner is left as it is. */
  public void refused(OwnerId owner, long itsRows, String why) {
    refused += itsRows;
    name("not replayed: %s %s: %s".formatted(Shown.count(itsRows, "row"), Shown.whose(owner), why));
  }

  /**
   * An owner is left as it is, since a session took it or a partner over after it was planned: what
   * was committed together with these rows does not show that they are missing.
   */
  public void overtaken(OwnerId owner, long itsRows, String why) {
    overtaken = true;
    refused(owner, itsRows, why);
  }

  /** Whether any owner was: another plan tells what is to become of the rows, and of messages. */
  public boolean isOvertaken() {
    return overtaken;
  }

  public void setAside(String row, String why) {
    setAside++;
    name("dead letter: %s: %s".formatted(Shown.text(row), Shown.cut(why, 120)));
  }

  /** A row is left as it is, since its table takes none: nothing more is tried with it. */
  public void closed(String table, String why) {
    closed.putIfAbsent(table, why);
    closedRows.merge(table, 1L, Long::sum);
  }

  /** The tables that took no rows, a line each; empty when all did. */
  public List<String> closedTables() {
    return closed.entrySet().stream()
        .map(
            of ->
                "table %s takes no rows, %s of it not replayed: %s"
                    .formatted(
                        Shown.text(of.getKey()),
                        Shown.count(closedRows.getOrDefault(of.getKey(), 0L), "row"),
                        Shown.cut(of.getValue(), 200)))
        .toList();
  }

  private void name(String line) {
    if (named.size() < MOST_NAMED) {
      named.add(line);
    }
  }

  void restored(int sessions) {
    restored += sessions;
  }

  public void tookOver() {
    takenOver++;
  }

  /** Rows that were handed to the target. */
  public long rows() {
    return rows;
  }

  /** Rows that the target did not have. */
  public long written() {
    return written;
  }

  public long refused() {
    return refused;
  }

  public long setAside() {
    return setAside;
  }

  /** Sessions written into MySQL again. */
  public long restored() {
    return restored;
  }

  /** Owners that were opened to apply conflicts. */
  public long takenOver() {
    return takenOver;
  }

  /** The first of what could not be done, a line each. */
  public List<String> named() {
    return named;
  }
}
