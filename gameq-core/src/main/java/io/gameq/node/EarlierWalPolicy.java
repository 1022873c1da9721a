package io.gameq.node;

import io.gameq.EarlierWals;
import io.gameq.GameQueueConfig;
import io.gameq.GameQueueException;
import io.gameq.healing.LeftWalReplay;
import io.gameq.mysql.MySql;
import io.gameq.mysql.tables.DurableRows;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.SlotKeys;
import io.gameq.rows.Catalog;
import io.gameq.wal.LeftWals;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies the setting {@code earlierWals}: replays, refuses or ignores the incomplete WALs that
 * earlier starts of this node left behind. Stateless.
 *
 * <p>It does so before the first owner is opened: an owner opened before its rows are replayed
 * would turn them into conflicts.
 */
final class EarlierWalPolicy {
  private static final Logger LOG = LoggerFactory.getLogger(EarlierWalPolicy.class);

  private EarlierWalPolicy() {}

  /**
   * Does what {@link io.gameq.GameQueueConfigBuilder#earlierWals} says; returns the WALs that were
   * replayed whole.
   *
   * @throws GameQueueException when an incomplete WAL is there and it is not to start beside one,
   *     or a server goes away while it is replayed
   */
  static List<Path> apply(
      GameQueueConfig config, MySql mysql, Catalog catalog, PrimaryConnector primary) {
    List<Path> wals = LeftWals.of(config.walDirectory(), config.node());
    List<Path> incomplete = wals.stream().filter(wal -> !LeftWals.isComplete(wal)).toList();
    for (Path wal : incomplete) {
      LOG.warn("an earlier start of node {} left the incomplete WAL {}", config.node(), wal);
    }
    if (!incomplete.isEmpty() && config.earlierWals() == EarlierWals.REFUSE) {
      throw new GameQueueException(
          ("node %s does not start beside the incomplete WAL %s: run 'gameq-recovery"
                  + " plan' over it and remove it when 'verify' ends with 0, or choose another"
                  + " earlierWals")
              .formatted(config.node(), incomplete.get(0)));
    }
    if (wals.isEmpty()) {
      return wals;
    }
    if (config.earlierWals() == EarlierWals.IGNORE) {
      LOG.warn("they are left to 'gameq-recovery plan'");
      return List.of();
    }
    return LeftWalReplay.run(
        primary,
        new DurableRows(mysql, catalog),
        config.namespace(),
        SlotKeys.all(config.namespace(), config.slots()),
        wals);
  }
}
