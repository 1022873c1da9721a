package io.gameq.healing;

import io.gameq.agent.RateLimit;
import io.gameq.healing.PlannedRow.Status;
import io.gameq.healing.WalReplay.ReplayReport;
import io.gameq.healing.WalReplay.ReplayTarget;
import io.gameq.mysql.tables.DurableRows;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LookupScript.ReplayScript;
import io.gameq.redis.script.LookupScript.ReplayScript.Applied;
import io.gameq.redis.script.LookupScript.ReplayScript.Owner;
import io.gameq.redis.script.LookupScript.ReplayScript.Pending;
import io.gameq.redis.script.LookupScript.ReplayScript.Refused;
import io.gameq.redis.script.NodeSigns;
import io.gameq.redis.script.SessionScripts;
import io.gameq.rows.RowCodec;
import io.gameq.view.OwnerViews;
import io.gameq.wal.WalDirectory;
import io.gameq.wal.WalReader;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.ObjIntConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Replays the WALs that earlier starts of a node left, before it opens its first owner: as {@code
 * gameq-recovery replay} would, by {@link WalReplay}, into Redis. Stopped anywhere, run twice or
 * beside the tool, it does no harm. Stateless.
 */
public final class LeftWalReplay {
  private static final Logger LOG = LoggerFactory.getLogger(LeftWalReplay.class);

  /** Of the heap, for an index of rows: the game has most of it. */
  private static final int MEMORY_SHARE = 10;

  /** As often at most it is planned again since owners were opened meanwhile. */
  private static final int MOST_PASSES = 3;

  private LeftWalReplay() {}

  /**
   * Replays WALs of one node, together: the newest change of a row may stand in any of them.
   *
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
      List<Path> left) {
    RedisConnection connection = primary.open().redis();
    try {
      ReplayRedis redis = new ReplayRedis(connection, namespace, slots);
      return run(new Lookups(database, redis, slots), redis, identity, left);
    } finally {
      connection.close();
    }
  }

  private static List<Path> run(
      Lookups lookups, ReplayRedis redis, String identity, List<Path> left) {
    List<WalFolder> wals = left.stream().map(WalFolder::new).toList();
    List<WalFolder> ofThisGame = wals.stream().filter(wal -> isOf(redis, identity, wal)).toList();
    List<WalFolder> withRows =
        ofThisGame.stream().filter(wal -> !WalDirectory.isComplete(wal.directory())).toList();
    Left rows =
        withRows.isEmpty()
            ? new Left(new BitSet(), false)
            : replayRows(lookups, redis, new WalSet(withRows));
    List<Path> whole = new ArrayList<>();
    for (WalFolder wal : ofThisGame) {
      int number = withRows.indexOf(wal);
      if (number < 0) {
        wal.read(entry -> {});
      }
      boolean areRowsBack = number < 0 || !(rows.isOvertaken || rows.ofWals.get(number));
      long commits =
          number >= 0 && rows.isOvertaken ? 0 : LeftMessages.putBack(lookups, wal, areRowsBack);
      if (commits > 0) {
        LOG.info("the messages of {} commits of WAL {} were put back", commits, wal.directory());
      }
      if (areRowsBack && wal.isWhole()) {
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

  /**
   * What a replay leaves.
   *
   * @param ofWals the numbers of the WALs of which rows are left
   * @param isOvertaken whether owners were opened meanwhile: what is left of their rows is not
   *     known then, and so not which messages belong to them
   */
  private record Left(BitSet ofWals, boolean isOvertaken) {}

  private static Left replayRows(Lookups lookups, ReplayRedis redis, WalSet wals) {
    Left left = replayOnce(lookups, redis, wals);
    for (int pass = 1; left.isOvertaken && pass < MOST_PASSES; pass++) {
      left = replayOnce(lookups, redis, wals);
    }
    return left;
  }

  private static Left replayOnce(Lookups lookups, ReplayRedis redis, WalSet wals) {
    BitSet leaves = new BitSet();
    Map<Status, Long> rows = new EnumMap<>(Status.class);
    Planner planner =
        new Planner(wals, lookups, new Planner.Options(Set.of(), true, false, false), step -> {})
            .withMostIndexedRows(
                Runtime.getRuntime().maxMemory() / MEMORY_SHARE / OwnerGroup.BYTES_PER_ROW);
    WalReplay replay =
        new WalReplay(
            wals,
            lookups,
            planner,
            new RedisTarget(redis, new RateLimit(0)),
            wals.folders().stream().map(WalFolder::process).collect(Collectors.toSet()),
            unwatched -> {});
    replay.run(
        row -> {
          rows.merge(row.status(), 1L, Long::sum);
          if (row.status() != Status.LOST && row.status().callsForAction()) {
            leaves.set(row.change().wal());
          }
        });
    ReplayReport report = replay.report();
    LOG.info(
        "{} rows of {} WALs: {} in MySQL, {} in Redis, {} lost, of which {} were put back",
        rows.values().stream().mapToLong(Long::longValue).sum(),
        wals.folders().size(),
        rows.getOrDefault(Status.IN_MYSQL, 0L),
        rows.getOrDefault(Status.IN_REDIS, 0L),
        rows.getOrDefault(Status.LOST, 0L),
        report.rows());
    report.named().forEach(LOG::warn);
    return new Left(leaves, report.isOvertaken());
  }

  /** One connection to Redis, on which a replay sends scripts many at a time. One thread. */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  public record ReplayRedis(RedisConnection connection, String namespace, SlotKeys[] slots) {
    public SlotKeys slot(OwnerId owner) {
      return slots[owner.slot(slots.length)];
    }

    /** The node of which this process is alive, null when it gave no sign of life for 15 s. */
    public @Nullable String aliveNode(String process) {
      return NodeSigns.aliveNode(connection, namespace, process);
    }

    /** The session that owns, as far as Redis knows. */
    public @Nullable SessionId ownedBy(OwnerId owner) {
      return SessionScripts.session(connection, slot(owner), owner);
    }
  }

  /**
   * Where a replay looks.
   *
   * @param redis null when it is gone for good: then it holds nothing
   */
  public record Lookups(DurableRows database, @Nullable ReplayRedis redis, DurableTruth truth) {
    /** With the slots of the namespace. */
    public Lookups(DurableRows database, @Nullable ReplayRedis redis, SlotKeys[] slots) {
      this(
          database,
          redis,
          new DurableTruth(
              slots,
              database.owners(),
              rows -> OwnerViews.versions(database.reader(), database.catalog(), rows)));
    }

    /** Decodes rows by the column lists that MySQL knows, and then by those of the WALs. */
    public RowCodec codec(WalSet wals) {
      return new RowCodec(
          (table, fingerprint) -> {
            String known = database.layouts().layout(table, fingerprint);
            return known != null ? known : wals.layout(table, fingerprint);
          },
          Clock.systemUTC());
    }
  }

  /** The WALs of one command line, always read in the same order. Not thread-safe. */
  public static final class WalSet {
    private final List<WalFolder> folders;

    WalSet(List<WalFolder> folders) {
      this.folders = folders;
    }

    /**
     * The WALs among these directories, and inside of those that are none.
     *
     * @throws io.gameq.GameQueueException naming the first directory that neither is nor holds a
     *     WAL
     */
    public static WalSet open(List<Path> arguments) {
      return new WalSet(WalDirectory.find(arguments).stream().map(WalFolder::new).toList());
    }

    /** The WALs, in the order in which they are read. */
    public List<WalFolder> folders() {
      return folders;
    }

    /** Hands every readable record of every WAL, with the WAL's number, to {@code sink}. */
    public void read(ObjIntConsumer<WalReader.Entry> sink) {
      for (int i = 0; i < folders.size(); i++) {
        int wal = i;
        folders.get(i).read(entry -> sink.accept(entry, wal));
      }
    }

    /** Learns the header of each WAL, unless it is known. */
    public void readHeaders() {
      folders.forEach(WalFolder::readHeader);
    }

    /** Those of them to which something was written; the folders are the same ones. */
    public WalSet notEmpty() {
      return new WalSet(folders.stream().filter(folder -> !folder.isEmpty()).toList());
    }

    /** Which column lists rows were written with is asked of every WAL; null when none knows. */
    public @Nullable String layout(String table, long fingerprint) {
      WalFolder.LayoutName name = new WalFolder.LayoutName(table, fingerprint);
      return folders.stream()
          .map(folder -> folder.layouts().get(name))
          .filter(Objects::nonNull)
          .findFirst()
          .orElse(null);
    }
  }

  /** Puts lost rows back into Redis, some scripts ahead of their answers. */
  public static final class RedisTarget implements ReplayTarget {
    /** Rows of scripts that wait for answers: more gain nothing, and fill Redis' buffers. */
    private static final int MOST_ROWS_AHEAD = 4_000;

    /** One script holds everybody else back for some 100 ms then; an owner alone is never split. */
    private static final int MOST_ROWS_PER_SCRIPT = 20_000;

    private final ReplayScript script;
    private final RateLimit limit;

    public RedisTarget(ReplayRedis redis, RateLimit limit) {
      this.script = new ReplayScript(redis.connection(), redis.slots());
      this.limit = limit;
    }

    @Override
    public void write(List<List<Owner>> groups, ReplayReport report) {
      List<Pending> ahead = List.of();
      List<List<Owner>> next = new ArrayList<>();
      long rows = 0;
      for (List<Owner> group : groups) {
        for (List<Owner> together : sized(group)) {
          next.add(together);
          rows += rows(together);
        }
        if (rows >= limit.burst(MOST_ROWS_AHEAD)) {
          limit.take(rows);
          List<Pending> sent = script.send(next);
          settle(ahead, report); // those of the time before, while these are on their way
          ahead = sent;
          next.clear();
          rows = 0;
        }
      }
      limit.take(rows);
      List<Pending> last = script.send(next);
      settle(ahead, report);
      settle(last, report);
    }

    private static List<List<Owner>> sized(List<Owner> group) {
      return rows(group) <= MOST_ROWS_PER_SCRIPT
          ? List.of(group)
          : group.stream().map(List::of).toList();
    }

    private static long rows(List<Owner> group) {
      return group.stream().mapToLong(of -> of.rows().size()).sum();
    }

    private static void settle(List<Pending> ahead, ReplayReport report) {
      for (Pending pending : ahead) {
        ReplayScript.Outcome outcome = pending.await();
        if (outcome instanceof Applied applied) {
          report.wrote(
              pending.group().stream().mapToLong(of -> of.rows().size()).sum(), applied.written());
        } else if (outcome instanceof Refused refused) {
          refused(pending.group(), refused, report);
        }
      }
    }

    /** A newer session owns one of them by now: nothing of the group was written. */
    private static void refused(List<Owner> group, Refused refused, ReplayReport report) {
      for (Owner of : group) {
        report.overtaken(
            of.owner(),
            of.rows().size(),
            of.owner().equals(refused.owner())
                ? "session " + refused.ownedBy() + " owns in Redis, a later one"
                : ReplayReport.COMMITTED_WITH_REFUSED);
      }
    }
  }
}
