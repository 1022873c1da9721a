package io.gameq.healing;

import io.gameq.agent.RateLimit;
import io.gameq.healing.Lookups.ReplayRedis;
import io.gameq.healing.PlannedRow.Status;
import io.gameq.healing.WalFolder.WalSet;
import io.gameq.healing.WalReplay.Count;
import io.gameq.healing.WalReplay.RedisTarget;
import io.gameq.mysql.tables.DurableRows;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.wal.WalDirectory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Replays the WALs that earlier starts of a node left, before it opens its first owner: as {@code
 * gameq-recovery replay} would, by {@link WalReplay}, into Redis. Stopped anywhere, run twice or
 * beside the tool, it does no harm. Stateless.
 */
public final class LeftWalReplay {
  private static final Logger LOG = LoggerFactory.getLogger(LeftWalReplay.class);

  /** Of the heap, for the rows: the game has most of it. */
  private static final int MEMORY_SHARE = 10;

  /** As often at most it is planned again since owners were opened meanwhile. */
  private static final int MOST_PASSES = 3;

  private LeftWalReplay() {}

  /**
   * Replays WALs of one node, together: the newest change of a row may stand in any of them.
   *
   * <p>A WAL of which MySQL has everything is complete from then on, so that a later start removes
   * it.
   *
   * @param keepMessages how long Redis may yet lose messages of such a WAL
   * @return those of which nothing is left to {@code gameq-recovery}
   * @throws io.gameq.GameQueueException when a server goes away meanwhile, or one is no WAL; what
   *     was replayed stays, and it can be run again
   */
  public static List<Path> run(
      PrimaryConnector primary,
      DurableRows database,
      String namespace,
      SlotKeys[] slots,
      String identity,
      Duration keepMessages,
      List<Path> left) {
    RedisConnection connection = primary.open().redis();
    try {
      ReplayRedis redis = new ReplayRedis(connection, namespace, slots);
      List<WalFolder> wals =
          left.stream().map(WalFolder::new).filter(wal -> isOf(redis, identity, wal)).toList();
      long keptUntil = System.currentTimeMillis() + keepMessages.toMillis();
      return run(new Lookups(database, redis, slots), redis, wals, keptUntil);
    } finally {
      connection.close();
    }
  }

  private static boolean isOf(ReplayRedis redis, String identity, WalFolder wal) {
    wal.readHeader();
    boolean is = wal.isOf(redis.namespace(), redis.slots().length, identity);
    if (!is) {
      LOG.warn(
          "WAL {} is not replayed: it was written for another database, namespace or number of"
              + " slots",
          wal.directory());
    }
    return is;
  }

  private static List<Path> run(
      Lookups lookups, ReplayRedis redis, List<WalFolder> wals, long messagesUntilMillis) {
    List<WalFolder> withRows =
        wals.stream().filter(wal -> !WalDirectory.isComplete(wal.directory())).toList();
    Left rows = new Left(new BitSet(), new BitSet(), !withRows.isEmpty());
    for (int pass = 0; rows.isOvertaken && pass < MOST_PASSES; pass++) {
      rows = replayRows(lookups, redis, new WalSet(withRows));
    }
    List<Path> whole = new ArrayList<>();
    for (WalFolder wal : wals) {
      int number = withRows.indexOf(wal);
      if (number < 0) {
        wal.read(entry -> {});
      }
      boolean areRowsBack = number < 0 || !(rows.isOvertaken || rows.ofWals.get(number));
      long commits =
          number >= 0 && rows.isOvertaken ? 0 : MessageReplay.putBack(lookups, wal, areRowsBack);
      if (commits > 0) {
        LOG.info("the messages of {} commits of WAL {} were put back", commits, wal.directory());
      }
      if (areRowsBack && wal.report().isWhole()) {
        if (number >= 0 && !rows.onTheirWay.get(number)) {
          LOG.info("all of WAL {} is in MySQL: a later start removes it", wal.directory());
          WalDirectory.complete(
              wal.directory(),
              wal.report().lastSequence(),
              wal.report().bytes(),
              wal.count(WalFolder.Count.MESSAGES) == 0 ? 0 : messagesUntilMillis);
        }
        WalDirectory.messagesAreThere(wal.directory());
        whole.add(wal.directory());
      } else {
        LOG.warn(
            "something is left of WAL {}: see 'gameq-recovery plan {}'",
            wal.directory(),
            wal.directory());
      }
    }
    return whole;
  }

  /**
   * What a replay leaves.
   *
   * @param ofWals the numbers of the WALs of which rows are left
   * @param onTheirWay those of which rows are not in MySQL yet
   * @param isOvertaken whether owners were opened meanwhile: what is left of their rows is not
   *     known then, and so not which messages belong to them
   */
  private record Left(BitSet ofWals, BitSet onTheirWay, boolean isOvertaken) {}

  private static Left replayRows(Lookups lookups, ReplayRedis redis, WalSet wals) {
    BitSet leaves = new BitSet();
    BitSet onTheirWay = new BitSet();
    Map<Status, Long> rows = new EnumMap<>(Status.class);
    WalReplay replay =
        new WalReplay(
            new Planner(
                    wals,
                    lookups,
                    new Planner.Options(Set.of(), true, false, false),
                    step -> LOG.info("before this node starts: {}", step))
                .withMostBytes(Runtime.getRuntime().maxMemory() / MEMORY_SHARE),
            new RedisTarget(redis, new RateLimit(0)),
            wals.folders().stream().map(WalFolder::process).collect(Collectors.toSet()),
            (written, sessions) -> {});
    replay.run(
        row -> {
          rows.merge(row.status(), 1L, Long::sum);
          if (!row.status().isSettled()) {
            onTheirWay.set(row.change().wal());
            if (row.status() != Status.LOST && row.status().callsForAction()) {
              leaves.set(row.change().wal());
            }
          }
        });
    LOG.info(
        "{} rows of {} WALs: {} in MySQL, {} in Redis, {} lost, of which {} were put back",
        rows.values().stream().mapToLong(Long::longValue).sum(),
        wals.folders().size(),
        rows.getOrDefault(Status.IN_MYSQL, 0L),
        rows.getOrDefault(Status.IN_REDIS, 0L),
        rows.getOrDefault(Status.LOST, 0L),
        replay.report().count(Count.ROWS));
    replay.report().named().forEach(LOG::warn);
    return new Left(leaves, onTheirWay, replay.report().isOvertaken());
  }
}
