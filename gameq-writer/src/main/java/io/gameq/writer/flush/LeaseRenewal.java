package io.gameq.writer.flush;

import io.gameq.GameQueueException;
import io.gameq.agent.Agent;
import io.gameq.agent.Duty;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.Claim;
import io.gameq.redis.script.ClaimScript;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of claims that workers hold, so that a long flush is not done twice. Stops with
 * the process, and after {@value #MOST_RENEWALS} times, so that a worker that hangs gives its
 * owners up. Thread-safe.
 */
public final class LeaseRenewal implements AutoCloseable {
  private static final int MOST_RENEWALS = 20;

  private static final Logger LOG = LoggerFactory.getLogger(LeaseRenewal.class);

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

    private long heldMillis() {
      return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNanos);
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
    return held.stream().flatMap(of -> of.claims.values().stream()).flatMap(List::stream).toList();
  }

  private void renew() {
    for (Held of : held) {
      long millis = of.heldMillis();
      if (millis < everyMillis() / 2 || millis > MOST_RENEWALS * everyMillis()) {
        continue;
      }
      of.claims.forEach(this::renew);
    }
  }

  private void renew(SlotKeys slot, List<Claim> claims) {
    try {
      ControlConnection.Connected unused = watch.connected(redis);
      redis.call(connection -> ClaimScript.renew(connection, slot, leaseMillis, claims));
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
