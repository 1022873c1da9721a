package io.gameq.recovery.replay;

import io.gameq.catalog.RowCodec;
import io.gameq.catalog.RowKey;
import io.gameq.mysql.RowChange;
import io.gameq.recovery.mysql.DirectReplay;
import io.gameq.recovery.mysql.RecoveryDatabase;
import io.gameq.redis.UnflushedRow;
import java.util.ArrayList;
import java.util.List;

/** Puts lost rows straight into MySQL, when Redis is gone for good. */
final class MySqlTarget implements Target {
  /** As many rows as a writer flushes at a time. */
  private static final int ROWS_PER_TRANSACTION = 1_000;

  private final RecoveryDatabase database;
  private final DirectReplay direct;
  private final RowCodec codec;
  private final RateLimit limit;

  MySqlTarget(RecoveryDatabase database, RowCodec codec, RateLimit limit) {
    this.database = database;
    this.direct = database.directReplay();
    this.codec = codec;
    this.limit = limit;
  }

  @Override
  public void write(List<List<Owner>> groups, ReplayReport report) {
    List<DirectReplay.Owner> next = new ArrayList<>();
    int rows = 0;
    for (List<Owner> group : groups) {
      for (Owner of : group) {
        next.add(new DirectReplay.Owner(of.owner(), of.session(), changes(of)));
        rows += of.rows().size();
      }
      if (rows >= limit.burst(ROWS_PER_TRANSACTION)) {
        write(next, report, rows);
        rows = 0;
      }
    }
    write(next, report, rows);
  }

  private List<RowChange> changes(Owner of) {
    List<RowChange> changes = new ArrayList<>(of.rows().size());
    for (UnflushedRow row : of.rows()) {
      RowKey key = database.catalog().rowKey(row.key());
      changes.add(
          new RowChange(of.owner(), key, codec.decode(key.table(), row.image()), row.image()));
    }
    return changes;
  }

  private void write(List<DirectReplay.Owner> next, ReplayReport report, int rows) {
    if (next.isEmpty()) {
      return;
    }
    limit.take(rows);
    DirectReplay.Outcome outcome = direct.write(next);
    report.wrote(outcome.written(), outcome.written());
    outcome
        .setAside()
        .forEach(
            row ->
                report.setAside(
                    row.table() + ":" + row.rowKey() + " of " + row.owner().id(), row.errorText()));
    for (DirectReplay.Owner of : next) {
      if (outcome.notOwned().contains(of.owner())) {
        report.refused(of.owner(), of.rows().size(), "another session owns by now");
      }
    }
    next.clear();
  }
}
