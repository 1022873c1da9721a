package io.gameq.recovery;

import io.gameq.LayoutException;
import io.gameq.agent.RateLimit;
import io.gameq.healing.WalReplay.ReplayReport;
import io.gameq.healing.WalReplay.ReplayTarget;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.GuardedWrites.RowRefusal;
import io.gameq.recovery.mysql.DirectReplay;
import io.gameq.recovery.mysql.RecoveryDatabase;
import io.gameq.redis.script.LookupScript.ReplayScript;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Puts lost rows straight into MySQL, when Redis is gone for good. One thread.
 *
 * <p>A row that is refused because of another row (foreign key, unique value) waits until
 * everything else was written, and is tried again as long as that helps; then it is set aside. A
 * table that takes no rows is left out, and so are refused rows that refer to it: they stay lost
 * until it is mended and the replay runs again. So does what waits when the process is killed.
 */
final class MySqlTarget implements ReplayTarget {
  /** As many rows as a writer flushes at a time. */
  private static final int ROWS_PER_TRANSACTION = 1_000;

  /** What waits is in memory; beyond this it is tried again, and set aside, at once. */
  private static final long MOST_WAITING_BYTES = 64 << 20;

  /** Each pass cures one link of a chain of rows at least; longer chains are set aside. */
  private static final int MOST_PASSES = 50;

  private static final String HANDLED_TWICE =
      "another handler of a message that these rows were changed for was written before";

  private final RecoveryDatabase database;
  private final DirectReplay direct;
  private final RowCodec codec;
  private final RateLimit limit;
  private final Map<Table, String> closed = new LinkedHashMap<>();
  private List<DirectReplay.Owner> waiting = new ArrayList<>();
  private long waitingBytes;

  MySqlTarget(RecoveryDatabase database, RowCodec codec, RateLimit limit) {
    this.database = database;
    this.direct = database.directReplay();
    this.codec = codec;
    this.limit = limit;
  }

  @Override
  public void write(List<List<ReplayScript.Owner>> groups, ReplayReport report) {
    List<DirectReplay.Owner> owners = new ArrayList<>();
    for (List<ReplayScript.Owner> group : groups) {
      for (ReplayScript.Owner of : group) {
        owners.add(new DirectReplay.Owner(of.owner(), of.session(), changes(of, report)));
      }
    }
    writeAll(owners, report, RowRefusal::isCurable);
    if (waitingBytes > MOST_WAITING_BYTES) {
      finish(report);
    }
  }

  /** Rows that are written; one with a value for a column that is gone stays lost. */
  private List<RowChange> changes(ReplayScript.Owner of, ReplayReport report) {
    List<RowChange> changes = new ArrayList<>(of.rows().size());
    long readNanos = System.nanoTime();
    for (EncodedRow row : of.rows()) {
      try {
        RowImage image = database.rows().decodeToWrite(codec, row.key(), row.image(), readNanos);
        changes.add(
            new RowChange(of.owner(), new RowKey(image.table(), row.key()), image, row.image()));
      } catch (LayoutException e) {
        report.refused(of.owner(), 1, String.valueOf(e.getMessage()));
      }
    }
    return changes;
  }

  @Override
  public void finish(ReplayReport report) {
    long before = Long.MAX_VALUE;
    for (int pass = 0; pass < MOST_PASSES && !waiting.isEmpty() && rows(waiting) < before; pass++) {
      before = rows(waiting);
      writeAll(takeWaiting(), report, RowRefusal::isCurable);
    }
    writeAll(takeWaiting(), report, this::waitsForTable);
    for (DirectReplay.Owner of : takeWaiting()) {
      report.refused(
          of.owner(), of.rows().size(), "refused for want of rows of a table that takes none now");
    }
  }

  private List<DirectReplay.Owner> takeWaiting() {
    List<DirectReplay.Owner> taken = waiting;
    waiting = new ArrayList<>();
    waitingBytes = 0;
    return taken;
  }

  private static long rows(List<DirectReplay.Owner> owners) {
    return owners.stream().mapToLong(of -> of.rows().size()).sum();
  }

  /** Whether a table that takes no rows may be why: then nobody can tell what becomes of it. */
  private boolean waitsForTable(RowRefusal refusal) {
    Table table = refusal.row().key().table();
    return refusal.isCurable()
        && closed.keySet().stream()
            .anyMatch(
                of ->
                    table.foreignKeys().parents().contains(of.name())
                        || of.foreignKeys().parents().contains(table.name()));
  }

  private void writeAll(
      List<DirectReplay.Owner> owners, ReplayReport report, Predicate<RowRefusal> waits) {
    List<DirectReplay.Owner> next = new ArrayList<>();
    int rows = 0;
    for (DirectReplay.Owner of : owners) {
      next.add(of);
      rows += of.rows().size();
      if (rows >= limit.burst(ROWS_PER_TRANSACTION)) {
        write(next, report, waits);
        next.clear();
        rows = 0;
      }
    }
    write(next, report, waits);
  }

  private void write(
      List<DirectReplay.Owner> group, ReplayReport report, Predicate<RowRefusal> waits) {
    List<DirectReplay.Owner> open = withoutClosed(group, report);
    if (open.isEmpty()) {
      return;
    }
    limit.take(rows(open));
    DirectReplay.Outcome outcome = direct.write(open, waits);
    if (outcome instanceof DirectReplay.TableRefused refused) {
      closed.put(refused.table(), refused.reason());
      write(open, report, waits);
    } else if (outcome instanceof DirectReplay.Written written) {
      note(open, written, report);
    }
  }

  private List<DirectReplay.Owner> withoutClosed(
      List<DirectReplay.Owner> group, ReplayReport report) {
    if (closed.isEmpty()) {
      return group;
    }
    List<DirectReplay.Owner> open = new ArrayList<>();
    for (DirectReplay.Owner of : group) {
      List<RowChange> rows = new ArrayList<>();
      for (RowChange row : of.rows()) {
        String why = closed.get(row.key().table());
        if (why == null) {
          rows.add(row);
        } else {
          report.closed(row.key().table().name(), why);
        }
      }
      if (!rows.isEmpty()) {
        open.add(new DirectReplay.Owner(of.owner(), of.session(), rows));
      }
    }
    return open;
  }

  private void note(
      List<DirectReplay.Owner> group, DirectReplay.Written written, ReplayReport report) {
    report.wrote(written.rows(), written.rows());
    written
        .setAside()
        .forEach(
            row ->
                report.setAside(
                    row.table() + ":" + row.rowKey() + " of " + row.owner().id(), row.errorText()));
    for (DirectReplay.Owner of : group) {
      if (written.notOwned().contains(of.owner())) {
        report.overtaken(
            of.owner(),
            of.rows().size(),
            of.owner().isInbox()
                ? ReplayReport.COMMITTED_WITH_REFUSED
                : "another session owns by now");
      }
      String heldBack = written.heldBack().get(of.owner());
      if (heldBack != null) {
        report.refused(of.owner(), of.rows().size(), heldBack);
      }
      if (written.handledTwice().contains(of.owner())) {
        report.refused(of.owner(), of.rows().size(), HANDLED_TWICE);
      }
      List<RowChange> rows =
          written.waiting().stream().filter(row -> row.owner().equals(of.owner())).toList();
      if (!rows.isEmpty()) {
        waiting.add(new DirectReplay.Owner(of.owner(), of.session(), rows));
        rows.forEach(row -> waitingBytes += row.encoded().length + row.key().text().length());
      }
    }
  }
}
