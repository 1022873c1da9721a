package io.gameq.writer.flush;

import io.gameq.agent.Agent;
import io.gameq.agent.Duty;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.term.Term;
import java.time.Duration;

/**
 * Asks once a second which Redis primary counts: a worker of which nothing is refused, because its
 * primary has nothing due, would never learn that rows wait on another. Thread-safe.
 */
public final class TermWatch {
  private static final Duration EVERY = Duration.ofSeconds(1);

  private final PrimaryConnector primary;
  private volatile long number;
  private volatile long answeredNanos;

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
    number = primary.term();
    answeredNanos = System.nanoTime();
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
  public ControlConnection.Connected connected(ControlConnection redis) {
    ControlConnection.Connected connected = redis.connected();
    if (connected.term() != Term.NOT_KNOWN && connected.term() < number) {
      redis.close();
      connected = redis.connected();
    }
    return connected;
  }
}
