package io.gameq.term;

import io.gameq.sign.Protocol;
import io.gameq.term.Term.Primary;
import io.gameq.term.Term.TermMovedException;
import org.slf4j.LoggerFactory;

/** The term in MySQL. Thread-safe; all throw {@link io.gameq.MySqlException} when MySQL is away. */
public interface Terms {
  /**
   * Asks for it, and for the protocol.
   *
   * @throws io.gameq.sign.Protocol.UnspokenProtocolException when this build does not speak it: it
   *     is to write nothing from now on
   */
  Term current();

  /** In which formats this process is to write, as {@link #current} found it last. */
  default Protocol protocol() {
    return Protocol.FIRST;
  }

  /**
   * Passes where this process may take part, to be asked before each connection.
   *
   * @throws io.gameq.GameQueueException when the database was given another number of slots since
   *     this process was started: what it wrote would be in slots where nobody looks
   */
  default void requireAgreed() {}

  /** Which queue this is; {@link QueueIdentity#ANY} where nobody says. */
  default QueueIdentity identity() {
    return QueueIdentity.ANY;
  }

  /**
   * Moves the term on to a primary, if it is still {@code from}, and the history of its primary is
   * called as it was then: both are what the proof goes by. Returns whether it was.
   */
  boolean moveOn(Term from, Primary to);

  /** Notes a sign of life of the term's primary, and what changed about it. */
  void alive(Term of, Primary seen);

  /**
   * The number of the term that a primary has which was just connected to; moves the term on when
   * it took over.
   *
   * @param before the term as it was before connecting: see {@link Term#relation}
   * @throws TermMovedException when it does not count, or somebody else moved the term meanwhile
   */
  default long settle(Term before, Primary seen) {
    if (!seen.isKnown()) {
      return Term.NOT_KNOWN;
    }
    switch (before.relation(seen)) {
      case SAME -> {
        if (seen.sentinelEpoch() > before.sentinelEpoch()
            || !seen.replId().equals(before.replId())
            || !before.wasReachedAt(seen.address())) {
          alive(before, seen);
        }
        return before.number();
      }
      case NEWER -> {
        if (!moveOn(before, seen)) {
          throw new TermMovedException("another Redis primary took over at the same moment");
        }
        LoggerFactory.getLogger(Terms.class)
            .info(
                "Redis at {} counts from now on, as number {}",
                seen.address(),
                before.number() + 1);
        return before.number() + 1;
      }
      default -> throw before.demoted(seen);
    }
  }

  /**
   * Which queue this is, by MySQL: Redis notes the same, so that nobody joins the MySQL of one
   * environment to the Redis of another.
   *
   * @param namespace empty where nobody used the database yet
   * @param database its random id, which a clone shares until it is given another one
   * @param protocol that this build speaks
   */
  public record QueueIdentity(String namespace, String database, Protocol protocol) {
    /** Passes everywhere. */
    public static final QueueIdentity ANY = new QueueIdentity("", "", Protocol.FIRST);
  }
}
