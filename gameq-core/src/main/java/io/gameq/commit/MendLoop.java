package io.gameq.commit;

import io.gameq.GameQueueException;
import io.gameq.RedisFullException;
import io.gameq.commit.CommitSender.RedisAway;
import io.gameq.commit.SenderMessages.SentCommits;
import io.gameq.log.RepeatedWarnings;
import io.gameq.redis.Backoff;
import io.gameq.redis.ControlConnection.RedisConnection;
import io.gameq.redis.RedisReply;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the sender's connection, and mends it: once it broke nothing new is sent until it is rebuilt,
 * what Redis lost is put back, and what has no answer is sent again. While Redis has no room, what
 * it did not take is held and sent again. Used by the sender's thread, which waits here; {@link
 * #healedOn} by any.
 */
final class MendLoop {
  private static final Logger LOG = LoggerFactory.getLogger(MendLoop.class);

  private static final long LONGEST_REST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final SenderLink link;
  private final RedisAway away;
  private final SentCommits sent;
  private final SenderHealing healing;
  private final SenderEvents events;

  /** The server, by its run id, that has been told of all sessions and got all that it lost. */
  private volatile @Nullable String healedOn;

  private volatile long healedElsewhereNanos;

  private final Backoff backoff = new Backoff(50, 2_000);
  private final RepeatedWarnings complaints = new RepeatedWarnings(10);
  private RedisConnection redis;
  private String lastHealedOn;
  private boolean broken;
  private boolean holding;

  /** Why the connection is to be given up once what is on its way is answered. */
  private @Nullable String draining;

  private long mendAtNanos;

  /** Connects. */
  MendLoop(
      SenderLink link,
      RedisAway away,
      SentCommits sent,
      SenderHealing healing,
      SenderEvents events) {
    this.link = link;
    this.away = away;
    this.sent = sent;
    this.healing = healing;
    this.events = events;
    redis = link.connect();
    healing.begin(redis);
    lastHealedOn = link.server();
    healedOn = lastHealedOn; // there is nothing yet that it could have lost
  }

  RedisConnection redis() {
    return redis;
  }

  /** The server, by its run id, that this node has healed on; null while the connection is down. */
  @Nullable String healedOn() {
    return healedOn;
  }

  boolean isBroken() {
    return broken;
  }

  /** Whether nothing calls for an answer that has to be waited for. */
  boolean isWell() {
    return !broken && !holding && draining == null;
  }

  /** Until when there is nothing to mend, from now. */
  private long restNanos() {
    return mendAtNanos - System.nanoTime();
  }

  /** For how long there is nothing to do unless a reply comes. */
  long sleepNanos() {
    boolean waitsForReplies = !broken && sent.groups() > 0;
    return isWell() || (waitsForReplies && restNanos() <= 0) ? LONGEST_REST_NANOS : restNanos();
  }

  /** A connection that ended while nothing was on its way is told by no reply. */
  void breakOffIfClosed() {
    if (!broken && !redis.isOpen()) {
      breakOff("it is closed");
    }
  }

  /** Gives the connection up: whatever has no answer yet is sent again once healed. */
  void breakOff(String why) {
    LOG.warn(
        "lost the connection to Redis ({}); {} groups of commits have no answer yet",
        why,
        sent.groups());
    redis.closeSoon();
    sent.connectionBroke();
    broken = true;
    holding = false;
    draining = null;
    backoff.reset();
    mendAtNanos = System.nanoTime();
    healedOn = null;
    away.begin();
  }

  /**
   * Redis was seen to have lost something: heals as after a reconnect. Once what is on its way is
   * answered: else nobody knew what of that Redis has.
   */
  void healAgain(String why) {
    healing.oweAll();
    if (!broken && draining == null) {
      draining = why;
      mendAtNanos = System.nanoTime();
    }
  }

  /** Does not wait any longer before it mends. */
  void mendNow() {
    mendAtNanos = System.nanoTime();
  }

  /** Redis has no room, and the policy is to wait: nothing new is sent until it took these. */
  void hold() {
    if (!holding) {
      LOG.warn("Redis reached maxmemory: commits wait until the writers have drained enough");
      holding = true;
      backoff.reset();
      mendAtNanos = System.nanoTime() + backoff.nextNanos();
    }
  }

  /** Whether what is held is to be sent again: once nothing is on its way. */
  boolean isDue() {
    return !isWell() && restNanos() <= 0;
  }

  /** Mends, if it is time; returns 0 when nothing came of it. */
  int mend() {
    if (isWell() || restNanos() > 0 || (!broken && sent.groups() > 0)) {
      return 0;
    }
    if (draining != null) {
      breakOff(draining);
    }
    return broken ? heal() : sendHeld();
  }

  private int heal() {
    try {
      redis.closeSoon();
      redis = link.connect();
      link.silenceOthers(redis);
      link.beatFirst(redis);
      int again = sent.unanswered().size();
      healing.run(redis, events);
      LOG.info("{} commits without an answer sent again", again);
      mended();
      return 1;
    } catch (RedisFullException e) { // sessions are re-asserted; commits without an answer wait
      mended();
      hold();
      return 1;
    } catch (RuntimeException e) {
      if (!mayPass(e)) {
        throw e;
      }
      mendAtNanos = System.nanoTime() + backoff.nextNanos();
      complaints.about("heal", LOG::warn, () -> "cannot heal yet: " + e.getMessage());
      return 0;
    }
  }

  /** See {@link CommitSender#healedElsewhereNanos}. */
  long healedElsewhereNanos() {
    return healedElsewhereNanos;
  }

  private void mended() {
    broken = false;
    away.end();
    if (!link.server().equals(lastHealedOn) || healing.putMessagesBack()) {
      healedElsewhereNanos = System.nanoTime();
    }
    lastHealedOn = link.server();
    healedOn = lastHealedOn;
    events.healed();
  }

  /** Sends what waits for room in Redis again, in order. */
  private int sendHeld() {
    try {
      healing.sendAgain(redis, events);
      holding = false;
      LOG.info("all commits that waited are sent again");
      return 1;
    } catch (RedisFullException e) {
      mendAtNanos = System.nanoTime() + backoff.nextNanos();
      return 0;
    } catch (RuntimeException e) {
      if (!mayPass(e)) {
        throw e;
      }
      breakOff(String.valueOf(e.getMessage()));
      return 0;
    }
  }

  /** Whether it may go well when it is tried again; else it is an error of gameq's own. */
  private static boolean mayPass(RuntimeException e) {
    return e instanceof GameQueueException
        || RedisReply.isOfClient(e)
        || e instanceof IllegalStateException; // a client that was shut down
  }
}
