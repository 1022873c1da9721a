package io.gameq.recovery.plan;

/** A row with all that Redis and MySQL answered about it. */
record FoundRow(AskedRow asked, InRedis redis, InMySql mysql) {
  WalRow change() {
    return asked.change();
  }

  /** Whether MySQL holds this version of the row, a newer one, or a newer delete. */
  boolean isInMySql() {
    return change().isCoveredBy(mysql.version());
  }

  /** Whether MySQL refused this version of the row, or a newer one. */
  boolean isDeadLetter() {
    return change().isCoveredBy(mysql.deadLetter());
  }

  boolean isDiscarded() {
    WalRow row = change();
    return mysql.discards().stream()
        .anyMatch(discard -> discard.covers(row.owner(), row.session(), row.version()));
  }
}
