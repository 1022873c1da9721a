package io.gameq.healing;

import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.HealedScript;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What happens on a new connection before anything is sent: sessions are read again in MySQL and
 * re-asserted in Redis, and {@linkplain WalReplay what Redis lost} is replayed. Used by the
 * sender's thread; stopped anywhere, it may begin again.
 */
public final class Healing {
  private static final Logger LOG = LoggerFactory.getLogger(Healing.class);

  private final Reassertion reassertion;
  private final WalReplay replay;

  public Healing(DurableSessions durableSessions, SlotKeys[] slots, WalReplay replay) {
    this.reassertion = new Reassertion(durableSessions, slots);
    this.replay = replay;
  }

  /**
   * Heals over a connection that flushes by itself. The connection was made before MySQL is asked
   * here: an answer that a later failover has overtaken can then not reach the new primary. Throws
   * GameQueueException when a server goes away meanwhile. Returns the WAL records that are not
   * replayed for good.
   */
  public Set<Long> run(RedisConnection redis, Collection<HeldSession> sessions) {
    List<HeldSession> held = sessions.stream().filter(of -> !of.ref().isLost()).toList();
    replay.noteLost(redis, held);
    reassertion.run(redis, held.stream().map(HeldSession::ref).toList());
    long lost = held.stream().filter(of -> of.ref().isLost()).count();
    Runnable whole =
        () ->
            HealedScript.call(
                redis,
                reassertion.slots(),
                sessions.stream().map(HeldSession::ref).filter(ref -> !ref.isLost()).toList());
    WalReplay.Result replayed =
        replay.run(redis, sessions, session -> reassert(redis, session), whole);
    whole.run();
    LOG.info(
        "healed: {} sessions own, {} were lost; {} records replayed from the WAL, {} given up",
        held.size() - lost,
        lost,
        replayed.sent(),
        replayed.givenUp().size());
    return replayed.givenUp();
  }

  /**
   * Whether the session owns, by MySQL; if so Redis knows it now, otherwise the session is lost.
   */
  public boolean reassert(RedisConnection redis, SessionRef session) {
    return reassertion.run(redis, session);
  }
}
