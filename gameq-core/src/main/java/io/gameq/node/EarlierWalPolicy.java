package io.gameq.node;

import io.gameq.EarlierWals;
import io.gameq.GameQueueConfig;
import io.gameq.GameQueueException;
import io.gameq.healing.AdoptedHalves;
import io.gameq.healing.DurableSessions;
import io.gameq.healing.DurableTruth;
import io.gameq.healing.LeftWalReplay;
import io.gameq.mysql.MySql;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.TombstoneHorizon;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.SlotKeys;
import io.gameq.rows.Catalog;
import io.gameq.view.OwnerViews;
import io.gameq.wal.LeftWals;
import java.nio.file.Path;
import java.util.ArrayList;
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
      GameQueueConfig config,
      MySql mysql,
      DurableSessions sessions,
      Catalog catalog,
      PrimaryConnector primary) {
    List<Path> wals = LeftWals.of(config.walDirectory(), config.node());
    if (wals.isEmpty()) {
      return wals;
    }
    List<Path> whole = new ArrayList<>();
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
    switch (config.earlierWals()) {
      case IGNORE -> LOG.warn("they are left to 'gameq-recovery plan'");
      case REFUSE, REPLAY -> {
        OwnerReader reader = new OwnerReader(mysql);
        SlotKeys[] slots = SlotKeys.all(config.namespace(), config.slots());
        LeftWalReplay replay =
            new LeftWalReplay(
                primary,
                new DurableTruth(
                    sessions,
                    new AdoptedHalves(
                        slots, sessions, rows -> OwnerViews.versions(reader, catalog, rows))),
                config.namespace(),
                slots,
                TombstoneHorizon.read(mysql));
        for (int i = 0; i < wals.size(); i++) {
          LOG.info("replaying WAL {} of {}: {}", i + 1, wals.size(), wals.get(i));
          LeftWalReplay.Outcome outcome = replay.run(wals.get(i));
          tell(wals.get(i), outcome);
          if (!outcome.leavesSomething()) {
            LeftWals.messagesAreThere(wals.get(i));
            whole.add(wals.get(i));
          }
        }
      }
    }
    return whole;
  }

  private static void tell(Path wal, LeftWalReplay.Outcome outcome) {
    LOG.info(
        "WAL {}: Redis held all but {} records, of which {} were replayed",
        wal,
        outcome.missing(),
        outcome.replayed());
    if (outcome.leavesSomething()) {
      LOG.warn(
          "WAL {} was not replayed whole ({} owners were opened by later sessions, {} records were"
              + " given up{}): see 'gameq-recovery plan {}'",
          wal,
          outcome.owners(),
          outcome.halves(),
          outcome.refused().isEmpty() ? "" : "; " + outcome.refused(),
          wal);
    }
  }
}
