package io.gameq.writer.stale;

import io.gameq.GameQueueException;
import io.gameq.redis.script.StaleRows;
import io.gameq.rows.EncodedRow;
import io.gameq.terminal.Shown;
import io.gameq.writer.config.WriterConfig;

/** How the stale commands open Redis and name what they find. Stateless. */
final class StaleNames {
  private StaleNames() {}

  static StaleRows open(WriterConfig config) {
    return new StaleRows(config.redis(), config.namespace(), config.slots());
  }

  /** {@code player:42, session 0000000000000001-aaaaaaaa00000001} */
  static String of(StaleRows.Session session) {
    return Shown.text(session.owner().id()) + ", session " + session.session().text();
  }

  /** The version of a row, 0 when it is too damaged to tell. */
  static long version(EncodedRow row) {
    try {
      return row.version();
    } catch (GameQueueException e) {
      return 0;
    }
  }
}
