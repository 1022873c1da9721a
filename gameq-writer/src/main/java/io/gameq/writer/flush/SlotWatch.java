package io.gameq.writer.flush;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.Duty;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.sign.Protocol;
import io.gameq.sign.Protocol.UnspokenProtocolException;
import io.gameq.term.Term;
import io.gameq.terminal.Shown;
import io.gameq.writer.redis.DueSlots;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at all slots and tells the {@link SlotSchedule} in which of them there is something to do,
 * so that workers ask no slot in vain. Writers take turns, by Redis' clock: together they look five
 * times a second, however many they are. One thread.
 */
public final class SlotWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SlotWatch.class);

  /** The most delay of a flush that is pulled forward, and of one whose merge window is shorter. */
  private static final Duration EVERY = Duration.ofMillis(200);

  /** Each writer looks every 2 s at least, whatever has become of the others. */
  private static final int MOST_TURNS = 10;

  /** After Redis' clock went back: nodes that still reckon by the one before notice within 3 s. */
  private static final long AFTER_BACK_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** What writers that are gone left is looked for with every so many looks. */
  private static final int LOOKS_FOR_EACH_WHOLE = 5;

  private final ControlConnection redis;
  private final TermWatch term;
  private final Slots slots;
  private final SlotSchedule schedule;
  private final FlushBlockers.OutageBreaker mysql;
  private final long leaseMillis;
  private final Supplier<WriterRank> turn;
  private final RedisClock clock;
  private int looks;
  private long wentBackNanos;

  /**
   * When it is this writer's turn.
   *
   * @param rank of this writer among those that run, from 0
   * @param writers that run, 1 at least
   */
  public record WriterRank(int rank, int writers) {
    /** How long until this writer's next turn, not the one of now, ms. */
    long restMillis(long nowMillis) {
      long round = EVERY.toMillis() * Math.min(writers, MOST_TURNS);
      long mine = round * rank / writers;
      long rest = Math.floorMod(mine - nowMillis, round);
      return rest < EVERY.toMillis() / 2 ? rest + round : rest;
    }
  }

  /**
   * A watch with a connection that it closes.
   *
   * @param leaseMillis how long rows belong to the writer that claimed them
   * @param turn of this writer, as it is known by now
   */
  public SlotWatch(
      ControlConnection redis,
      TermWatch term,
      Slots slots,
      SlotSchedule schedule,
      FlushBlockers.OutageBreaker mysql,
      long leaseMillis,
      Supplier<WriterRank> turn,
      RedisClock clock) {
    this.turn = turn;
    this.clock = clock;
    this.redis = redis;
    this.term = term;
    this.slots = slots;
    this.schedule = schedule;
    this.mysql = mysql;
    this.leaseMillis = leaseMillis;
  }

  /** What looks. */
  public Agent duty() {
    return Duty.every(Duration.ZERO, this::restNanos, "look which slots are due", this::look);
  }

  private long restNanos() {
    return mysql.isClosed()
        ? EVERY.toNanos()
        : TimeUnit.MILLISECONDS.toNanos(turn.get().restMillis(clock.getAsLong()));
  }

  /** Not while MySQL is away, when nothing is claimed: then it asks whether MySQL is back. */
  private void look() {
    if (mysql.waitMillis() > 0) {
      return;
    }
    redis.call(term.connected(redis).redis(), this::look);
  }

  private boolean look(RedisConnection connection) {
    boolean isWhole = looks % LOOKS_FOR_EACH_WHOLE == 0;
    if (isWhole) {
      followClock(connection);
    }
    schedule.saw(DueSlots.firsts(connection, slots, isWhole), clock.getAsLong());
    looks++;
    return true;
  }

  /** What waits by a clock that was ahead would wait until it has caught up. */
  private void followClock(RedisConnection connection) {
    long backMillis = clock.measure(connection);
    long now = clock.getAsLong();
    boolean isFirst = looks == 0; // writers before may have left leases by a clock before
    if (backMillis > 0) {
      LOG.warn(
          "Redis' clock went back by {}: rows that wait are due now, and leases are cut to {}",
          Shown.duration(backMillis),
          Shown.duration(leaseMillis));
      wentBackNanos = System.nanoTime();
    }
    boolean wentBack = wentBackNanos != 0 && System.nanoTime() - wentBackNanos < AFTER_BACK_NANOS;
    for (int i = 0; i < slots.count() && (isFirst || wentBack); i++) {
      SlotKeys slot = slots.get(i);
      try {
        DueSlots.cutLeases(connection, slot, now + leaseMillis);
        long unused = wentBack ? DueSlots.pullForward(connection, slot, now, now) : 0;
      } catch (RedisUnavailableException e) {
        throw e;
      } catch (GameQueueException e) { // somebody else's value, which whoever claims tells of
        LOG.debug("cannot bring forward what waits in {}: {}", slot.prefix(), e.getMessage());
      }
    }
  }

  @Override
  public void close() {
    redis.close();
  }

  /**
   * Asks once a second which Redis primary counts: a worker of which nothing is refused, because
   * its primary has nothing due, would never learn that rows wait on another. Thread-safe.
   */
  public static final class TermWatch {
    private static final Duration EVERY = Duration.ofSeconds(1);

    private final PrimaryConnector primary;
    private volatile long number;
    private volatile long answeredNanos;
    private volatile @Nullable UnspokenProtocolException refusal;

    /** Asks once; the term has to be there. */
    public TermWatch(PrimaryConnector primary) {
      this.primary = primary;
      ask();
    }

    /** What asks. */
    public Agent duty() {
      return Duty.every(EVERY, "look which Redis primary counts", this::ask);
    }

    private void ask() {
      try {
        number = primary.term();
        answeredNanos = System.nanoTime();
      } catch (UnspokenProtocolException e) {
        refusal = e;
        throw e;
      }
    }

    /** Why this writer is to end; null while it speaks the protocol of its database. */
    public @Nullable UnspokenProtocolException refusal() {
      return refusal;
    }

    /** In which formats it is to write. */
    public Protocol protocol() {
      return primary.protocol();
    }

    /** The number of the primary that counts. */
    public long number() {
      return number;
    }

    /** How long ago MySQL, which holds the term, answered. */
    public Duration sinceAnswer() {
      return Duration.ofNanos(System.nanoTime() - answeredNanos);
    }

    /** The connection, opened anew when it leads to a primary that was demoted. */
    public PrimaryConnector.Opened connected(ControlConnection redis) {
      PrimaryConnector.Opened connected = redis.connected();
      if (connected.term() != Term.NOT_KNOWN && connected.term() < number) {
        redis.close();
        connected = redis.connected();
      }
      return connected;
    }
  }
}
