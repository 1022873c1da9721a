package io.gameq.writer.upkeep;

import io.gameq.mysql.MySql;
import io.gameq.mysql.tables.AuditTable;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removes old entries of the audit log. Thread-safe; any number of writers may do so at once. */
final class AuditPurge implements Runnable {
  /** A year, which is what auditors ask for, and a month to notice. */
  static final Duration KEPT = Duration.ofDays(400);

  /** More are left to the next round: operators do not do so much within an hour. */
  private static final int MOST_ROWS = 10_000;

  private static final Logger LOG = LoggerFactory.getLogger(AuditPurge.class);

  private final MySql mysql;

  AuditPurge(MySql mysql) {
    this.mysql = mysql;
  }

  @Override
  public void run() {
    int purged = AuditTable.purge(mysql, KEPT, MOST_ROWS);
    if (purged > 0) {
      LOG.info("purged {} entries of the audit log older than {} days", purged, KEPT.toDays());
    }
  }
}
