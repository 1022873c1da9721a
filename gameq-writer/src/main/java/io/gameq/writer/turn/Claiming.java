package io.gameq.writer.turn;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.redis.script.ClaimScript.Share;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.script.SessionScripts;
import io.gameq.writer.turn.AfterFlush.SettingAside;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * About to claim what is due in some slots, to be flushed together.
 *
 * @param isUrgent whether only those are claimed who are due before their time
 */
public record Claiming(List<SlotShare> shares, boolean isUrgent) implements Turn {
  /**
   * Rows whose lease ran out so often, though they were taken alone since the second, are set
   * aside.
   */
  private static final int MOST_LAPSES = 5;

  /** Rows whose lease ran out so often are flushed alone, as claim.lua takes them. */
  private static final int LAPSES_OF_SUSPECTS = 2;

  /** Claims whoever is due. */
  public Claiming(List<SlotShare> shares) {
    this(shares, false);
  }

  /**
   * Claims in one round trip. A slot in which that fails does not disturb the others.
   *
   * @throws RedisUnavailableException when Redis does not answer, and has not for any slot so far
   */
  @Override
  public Turn next(TurnPorts ports) {
    List<SlotShare> parts = shares.stream().flatMap(SlotShare::parts).toList();
    WriterOptions options = ports.context().options();
    List<LuaScript.Answer<ClaimScript.Batch>> taken =
        new ClaimScript(options.name(), options.bounds())
            .callEach(
                ports.claimsFrom(),
                parts.stream()
                    .map(
                        part ->
                            new Share(ports.slots().get(part.slot()), part.owners(), part.rows()))
                    .toList(),
                isUrgent);
    List<Claim> claims = new ArrayList<>();
    Turn next = then();
    for (int i = 0; i < parts.size(); i++) {
      ClaimScript.Batch batch = taken.get(i).reply();
      if (batch == null) {
        failed(ports, parts.get(i), Objects.requireNonNull(taken.get(i).error()), claims);
      } else {
        ports.claimed(parts.get(i).slot(), batch);
        batch.broken().forEach(ports.context().reports()::broken);
        for (ClaimScript.Rows stale : batch.stale()) {
          next = new Parking(stale, next);
        }
        for (ClaimScript.Rows unowned : batch.unowned()) {
          next = new AskingForUnowned(unowned, next);
        }
        claims.addAll(batch.claims());
      }
    }
    return claimed(ports, claims, next);
  }

  /** Redis may be away for all of them, but what is claimed already is flushed. */
  private static void failed(
      TurnPorts ports, SlotShare part, GameQueueException error, List<Claim> claims) {
    if (error instanceof RedisUnavailableException && claims.isEmpty()) {
      throw error;
    }
    ports.failed(part.slot(), error);
  }

  /** An owner that is to be left alone for so long. */
  private record Paused(Claim claim, long millis) {}

  /** Leaves apart who may hold up the others. */
  private static Turn claimed(TurnPorts ports, List<Claim> claims, Turn then) {
    HeldUpOwners owners = ports.context().holdUps().owners();
    List<Claim> suspects = new ArrayList<>();
    List<Claim> rest = new ArrayList<>();
    List<Paused> paused = new ArrayList<>();
    for (Claim claim : claims) {
      long millis = owners.pausedMillis(claim.owner());
      if (millis > 0) { // a commit since then has made him due
        paused.add(new Paused(claim, millis));
      } else {
        (owners.contains(claim.owner()) ? suspects : rest).add(claim);
      }
    }
    Turn next = rest.isEmpty() ? then : flushed(rest, then);
    if (!suspects.isEmpty() && !ports.takeSuspects(suspects)) {
      next = GivingBack.forWantOfRoom(suspects, next);
    }
    for (Paused of : paused) {
      next = new GivingBack(List.of(of.claim()), of.millis(), false, next);
    }
    return next;
  }

  /**
   * Rows that may kill their writers come after the others, who are acknowledged by then, and one
   * at a time.
   */
  private static Turn flushed(List<Claim> claims, Turn then) {
    List<Claim> others = new ArrayList<>(claims);
    List<Claim> suspects = new ArrayList<>();
    others.removeIf(claim -> claim.lapses() >= LAPSES_OF_SUSPECTS && suspects.add(claim));
    Turn next = suspects.isEmpty() ? then : flushedAlone(suspects.get(0), then);
    if (!others.isEmpty()) {
      next = Decoding.together(others, next);
    }
    return suspects.size() > 1
        ? GivingBack.forNextTurn(suspects.subList(1, suspects.size()), next)
        : next;
  }

  private static Turn flushedAlone(Claim claim, Turn then) {
    return claim.lapses() >= MOST_LAPSES
        ? new SettingAside(
            claim,
            "its lease ran out %s times in a row: it may kill its writers"
                .formatted(claim.lapses()),
            then)
        : Decoding.together(List.of(claim), then);
  }

  @Override
  public Turn then() {
    return new Ended();
  }

  /**
   * How a writer works; immutable.
   *
   * @param name names this writer in Redis and logs: no spaces
   * @param workers threads, each with a connection to Redis and one to MySQL
   * @param bounds what one claim takes
   * @param patience when rows are set aside
   * @param tombstonesKept how long deleted rows are remembered
   * @param rowsPerSecond most rows that this writer takes in a second; {@link #NO_CEILING}
   */
  public record WriterOptions(
      String namespace,
      int slots,
      String name,
      int workers,
      ClaimScript.Bounds bounds,
      FlushTransaction.Patience patience,
      Duration tombstonesKept,
      int rowsPerSecond) {
    /** As many rows a second as MySQL takes. */
    public static final int NO_CEILING = 0;

    /** The same without a ceiling. */
    public WriterOptions(
        String namespace,
        int slots,
        String name,
        int workers,
        ClaimScript.Bounds bounds,
        FlushTransaction.Patience patience,
        Duration tombstonesKept) {
      this(namespace, slots, name, workers, bounds, patience, tombstonesKept, NO_CEILING);
    }

    /**
     * What another flush may cure is tried for half a minute; a half of a handover waits for as
     * long as Redis remembers who had the other one.
     */
    public static final FlushTransaction.Patience DEFAULT_PATIENCE =
        new FlushTransaction.Patience(5, 30_000, SessionScripts.KEPT_MILLIS, 15, 100_000);

    /** Far beyond any backlog in Redis or in a WAL that is worth replaying. */
    public static final Duration DEFAULT_TOMBSTONES_KEPT = Duration.ofDays(30);

    private static final long FIRST_RETRY_MILLIS = 500;
    private static final int MOST_DOUBLINGS = 6;

    /**
     * How long an owner with a refused row waits after an attempt, ms: doubled with each, with
     * jitter, and the other owners go on. Not beyond the end of {@link #patience}: the attempt that
     * sets a row aside comes then.
     */
    public long retryDelayMillis(int attempts, long refusedForMillis) {
      long delay = FIRST_RETRY_MILLIS << Math.min(Math.max(0, attempts - 1), MOST_DOUBLINGS);
      long withJitter = delay / 2 + ThreadLocalRandom.current().nextLong(delay / 2 + 1);
      long left = patience.millis() - refusedForMillis;
      return left > 0 ? Math.min(withJitter, left) : withJitter;
    }
  }

  /**
   * Owners that may hold up whoever is flushed with them: a row of theirs is locked, or takes MySQL
   * long. They are flushed apart until they pass. Thread-safe.
   */
  public static final class HeldUpOwners {
    /** Who is forgotten for want of room is found again by the next flush that he holds up. */
    private static final int MOST = 10_000;

    private static final long FIRST_DELAY_MILLIS = 500;
    private static final int MOST_DOUBLINGS = 5;

    private final Map<OwnerId, Suspect> suspects =
        new LinkedHashMap<>() {
          @Override
          protected boolean removeEldestEntry(Map.Entry<OwnerId, Suspect> eldest) {
            return size() > MOST;
          }
        };

    private static final class Suspect {
      private int lockWaits;
      private int breaks;
      private long notBeforeNanos = System.nanoTime();
    }

    private Suspect of(OwnerId owner) {
      return suspects.computeIfAbsent(owner, one -> new Suspect());
    }

    /** He was in a flush that was held up. */
    synchronized void add(OwnerId owner) {
      Suspect unused = of(owner);
    }

    synchronized boolean contains(OwnerId owner) {
      return suspects.containsKey(owner);
    }

    /** He was flushed. */
    synchronized void remove(OwnerId owner) {
      suspects.remove(owner);
    }

    /** He waited for a lock in vain; returns how long to leave him alone, ms: 16 s in the end. */
    synchronized long delayMillis(OwnerId owner) {
      Suspect of = of(owner);
      long longest = FIRST_DELAY_MILLIS << Math.min(of.lockWaits++, MOST_DOUBLINGS);
      long delay = longest / 2 + ThreadLocalRandom.current().nextLong(longest / 2 + 1);
      of.notBeforeNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delay);
      return delay;
    }

    /**
     * For how long he is still to be left alone, ms, whatever he has committed since; 0 if he is
     * not.
     */
    synchronized long pausedMillis(OwnerId owner) {
      Suspect of = suspects.get(owner);
      return of == null
          ? 0
          : Math.max(0, TimeUnit.NANOSECONDS.toMillis(of.notBeforeNanos - System.nanoTime()));
    }

    /** How often in a row the connection broke when he was flushed alone. */
    synchronized int breaks(OwnerId owner, boolean broke) {
      Suspect of = of(owner);
      of.breaks = broke ? of.breaks + 1 : 0;
      return of.breaks;
    }
  }
}
