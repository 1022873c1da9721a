package io.gameq.writer.flush;

import io.gameq.GameQueueException;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.Duty;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.redis.script.LuaScript;
import io.gameq.writer.flush.SlotWatch.TermWatch;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Owners that held up others, and wait to be flushed apart by {@link Worker.SlowWorker}: in smaller
 * and smaller groups, in the end each owner alone. An owner that fails alone comes here until he
 * passes. Thread-safe.
 */
public final class SlowLane {
  public static final int THREADS = 2;

  private static final int MOST_CLAIMS = 1_000;

  private static final long TAKE_WAIT_MILLIS = 200;

  private static final Logger LOG = LoggerFactory.getLogger(SlowLane.class);

  private final LeaseRenewal leases;

  /** First those of whom nothing is known: most of them pass. */
  private final BlockingDeque<ClaimGroup> groups = new LinkedBlockingDeque<>();

  private final AtomicInteger claims = new AtomicInteger();
  private volatile boolean stopped;

  /**
   * Claims whose leases are renewed while they wait.
   *
   * @param term of the primary that they were claimed from
   */
  record ClaimGroup(long term, List<Claim> claims, LeaseRenewal.Lease held, long sinceNanos) {}

  public SlowLane(LeaseRenewal leases) {
    this.leases = leases;
  }

  /** Waits a little for a group; null when there is none by then. */
  @Nullable ClaimGroup take() throws InterruptedException {
    return taken(groups.poll(TAKE_WAIT_MILLIS, TimeUnit.MILLISECONDS));
  }

  /** A group that is there; null when there is none. */
  @Nullable ClaimGroup poll() {
    return taken(groups.poll());
  }

  private @Nullable ClaimGroup taken(@Nullable ClaimGroup group) {
    if (group != null) {
      claims.addAndGet(-group.claims.size());
    }
    return group;
  }

  /** Takes owners who are known to hold up others; false when it is full. */
  boolean takeSuspects(long term, List<Claim> suspects) {
    if (isFull(suspects)) {
      return false;
    }
    suspects.forEach(claim -> groups.addLast(group(term, List.of(claim))));
    return true;
  }

  /**
   * Takes a batch of which one owner held up the others, in groups of a size that is the root of
   * its own; false when it is full.
   *
   * @param wasInLane for such a batch there is always room
   */
  boolean takeBatch(long term, List<Claim> batch, boolean wasInLane) {
    if (!wasInLane && isFull(batch)) {
      return false;
    }
    int size = Math.max(1, (int) Math.sqrt(batch.size()));
    LuaScript.pieces(batch, size).forEach(some -> groups.addFirst(group(term, some)));
    return true;
  }

  private boolean isFull(List<Claim> more) {
    return stopped || claims.get() + more.size() > MOST_CLAIMS;
  }

  private ClaimGroup group(long term, List<Claim> some) {
    claims.addAndGet(some.size());
    return new ClaimGroup(term, some, leases.hold(some), System.nanoTime());
  }

  /** Takes no more. */
  public void stop() {
    stopped = true;
  }

  /** Gives up what waits in it. */
  public void clear() {
    groups.clear();
  }

  /**
   * Renews the leases of claims that workers hold, so that a long flush is not done twice. Stops
   * with the process, and after {@value #MOST_RENEWALS} times, so that a worker that hangs gives
   * its owners up. Thread-safe.
   */
  public static final class LeaseRenewal implements AutoCloseable {
    private static final int MOST_RENEWALS = 20;

    private final ControlConnection redis;
    private final TermWatch watch;
    private final Slots slots;
    private final long leaseMillis;
    private final Set<Lease> held = ConcurrentHashMap.newKeySet();

    /** Claims that a worker holds, until closed. */
    final class Lease implements AutoCloseable {
      private final Map<SlotKeys, List<Claim>> claims;
      private final long sinceNanos = System.nanoTime();

      private Lease(Map<SlotKeys, List<Claim>> claims) {
        this.claims = claims;
        held.add(this);
      }

      @Override
      public void close() {
        held.remove(this);
      }
    }

    public LeaseRenewal(ControlConnection redis, TermWatch watch, Slots slots, long leaseMillis) {
      this.redis = redis;
      this.watch = watch;
      this.slots = slots;
      this.leaseMillis = leaseMillis;
    }

    /** What renews them. */
    public Agent duty() {
      return Duty.every(Duration.ofMillis(Math.max(1, everyMillis())), "renew leases", this::renew);
    }

    private long everyMillis() {
      return leaseMillis / 3;
    }

    /** Renews these claims until the result is closed. */
    Lease hold(List<Claim> claims) {
      return new Lease(slots.grouped(claims, Claim::owner));
    }

    /** All claims that are held. */
    public List<Claim> claims() {
      return held.stream()
          .flatMap(of -> of.claims.values().stream())
          .flatMap(List::stream)
          .toList();
    }

    private void renew() {
      for (Lease of : held) {
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - of.sinceNanos);
        if (millis >= everyMillis() / 2 && millis <= MOST_RENEWALS * everyMillis()) {
          of.claims.forEach(this::renew);
        }
      }
    }

    private void renew(SlotKeys slot, List<Claim> claims) {
      try {
        redis.call(
            watch.connected(redis).redis(), on -> ClaimScript.renew(on, slot, leaseMillis, claims));
      } catch (GameQueueException e) {
        LOG.warn("cannot renew the leases of slot {}: {}", slot.slot(), e.getMessage());
      } catch (RuntimeException | Error e) { // the other slots are renewed all the same
        LOG.warn("cannot renew the leases of slot {}", slot.slot(), e);
      }
    }

    @Override
    public void close() {
      redis.close();
    }
  }
}
