package io.gameq.writer.flush;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.agent.AgentRunner;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.Duty;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.redis.script.LuaScript;
import io.gameq.writer.flush.SlotWatch.TermWatch;
import io.gameq.writer.flush.Stage.Decode;
import io.gameq.writer.flush.Stage.Ended;
import io.gameq.writer.flush.Stage.GiveBack;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Flushes, on threads of its own, batches that one of their owners held up: in smaller and smaller
 * groups, in the end each owner alone. An owner that fails alone is flushed here until he passes.
 * Thread-safe.
 */
public final class SlowLane {
  public static final int THREADS = 2;

  private static final int MOST_CLAIMS = 1_000;

  private static final long TAKE_WAIT_MILLIS = 200;

  private static final Logger LOG = LoggerFactory.getLogger(SlowLane.class);

  private final SlotTurn.Shared shared;
  private final TermWatch watch;
  private final LeaseRenewal leases;

  /** First those of whom nothing is known: most of them pass. */
  private final BlockingDeque<Group> groups = new LinkedBlockingDeque<>();

  private final AtomicInteger claims = new AtomicInteger();
  private final List<AgentRunner> runners = new ArrayList<>();
  private volatile boolean stopped;

  /** Claims whose leases are renewed while they wait. */
  private record Group(long term, List<Claim> claims, LeaseRenewal.Held held, long sinceNanos) {}

  /** Starts its agents, each with a connection to Redis. */
  public SlowLane(
      SlotTurn.Shared shared,
      TermWatch watch,
      LeaseRenewal leases,
      Supplier<ControlConnection> redis) {
    this.shared = shared;
    this.watch = watch;
    this.leases = leases;
    for (int i = 1; i <= THREADS; i++) {
      runners.add(new AgentRunner(shared.options().name() + "-slow-lane-" + i));
      runners.get(i - 1).start(new GroupFlush(redis.get()));
    }
  }

  /** Takes a group and flushes it. What fails here comes back when the lease runs out. */
  private final class GroupFlush implements Agent {
    private final ControlConnection redis;

    GroupFlush(ControlConnection redis) {
      this.redis = redis;
    }

    @Override
    public String name() {
      return "flush owners who hold up others";
    }

    @Override
    public int doWork() {
      try {
        Group next = groups.poll(TAKE_WAIT_MILLIS, TimeUnit.MILLISECONDS);
        if (next == null) {
          return 0;
        }
        flush(next);
        return 1;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return 0;
      }
    }

    private void flush(Group next) {
      claims.addAndGet(-next.claims.size());
      try (LeaseRenewal.Held held = next.held) {
        ControlConnection.Connected primary = watch.connected(redis);
        if (primary.term() == next.term) { // else the nodes put it back
          new SlotTurn(shared, redis, primary, SlowLane.this, true).takeHeld(first(next));
        }
      } catch (MySqlException e) {
        long unused = shared.holdUps().mysql().close(e.getMessage());
      } catch (GameQueueException e) {
        redis.close(); // it may be half dead
        LOG.warn("{}; owners come back when their leases run out", e.getMessage());
      } catch (RuntimeException | Error e) { // must not end the lane
        redis.close(); // it may be half dead
        LOG.warn("owners come back when their leases run out", e);
      }
    }

    private Stage first(Group of) {
      Ended end = new Ended();
      long waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - of.sinceNanos);
      if (waited > shared.options().bounds().leaseMillis()) { // not renewed for ever
        return GiveBack.forWantOfRoom(of.claims, end);
      }
      return of.claims.size() == 1
          ? Decode.apart(of.claims.get(0), end)
          : Decode.together(of.claims, end);
    }

    /** None: it waits for groups. */
    @Override
    public long idleNanos() {
      return 0;
    }

    /** What was taken in is flushed first. */
    @Override
    public void close() {
      try (redis) {
        for (Group next = groups.poll(); next != null; next = groups.poll()) {
          flush(next);
        }
      }
    }
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

  private Group group(long term, List<Claim> some) {
    claims.addAndGet(some.size());
    return new Group(term, some, leases.hold(some), System.nanoTime());
  }

  /** Takes no more; what it has is flushed. */
  public void stop() {
    stopped = true;
    runners.forEach(AgentRunner::stop);
  }

  /** Gives up what waits in it. */
  public void clear() {
    groups.clear();
  }

  /** Waits until what it took is flushed, for as long as is left until {@code deadlineNanos}. */
  public void join(long deadlineNanos) throws InterruptedException {
    for (AgentRunner runner : runners) {
      runner.join(deadlineNanos);
    }
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
    private final Set<Held> held = ConcurrentHashMap.newKeySet();

    /** Claims that a worker holds, until closed. */
    final class Held implements AutoCloseable {
      private final Map<SlotKeys, List<Claim>> claims;
      private final long sinceNanos = System.nanoTime();

      private Held(Map<SlotKeys, List<Claim>> claims) {
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
    Held hold(List<Claim> claims) {
      return new Held(slots.grouped(claims, Claim::owner));
    }

    /** All claims that are held. */
    public List<Claim> claims() {
      return held.stream()
          .flatMap(of -> of.claims.values().stream())
          .flatMap(List::stream)
          .toList();
    }

    private void renew() {
      for (Held of : held) {
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
