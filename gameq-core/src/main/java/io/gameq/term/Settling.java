package io.gameq.term;

import io.gameq.term.Term.Primary;
import io.gameq.term.Term.TermMovedException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles what a primary that was just connected to is to the term. Thread-safe. */
public final class Settling {
  private static final Logger LOG = LoggerFactory.getLogger(Settling.class);

  private final Terms terms;
  private final AtomicBoolean warned = new AtomicBoolean();

  public Settling(Terms terms) {
    this.terms = terms;
  }

  /** To be asked before connecting: see {@link Term#relation}. */
  public Term before() {
    return terms.current();
  }

  /**
   * The number of the term that the primary has; moves the term on when it took over.
   *
   * @throws TermMovedException when it does not count, or somebody else moved the term meanwhile
   */
  public long settle(Term before, Primary seen) {
    if (!seen.isKnown()) {
      if (!warned.getAndSet(true)) {
        LOG.warn(
            "Redis at {} does not tell its run_id: two primaries after a failover cannot be told"
                + " apart",
            seen.address());
      }
      return Term.NOT_KNOWN;
    }
    switch (before.relation(seen)) {
      case SAME -> {
        if (seen.sentinelEpoch() > before.sentinelEpoch()
            || !seen.replId().equals(before.replId())
            || !before.wasReachedAt(seen.address())) {
          terms.alive(before, seen);
        }
        return before.number();
      }
      case NEWER -> {
        if (!terms.moveOn(before, seen)) {
          throw new TermMovedException("another Redis primary took over at the same moment");
        }
        LOG.info(
            "Redis at {} counts from now on, as number {}", seen.address(), before.number() + 1);
        return before.number() + 1;
      }
      default -> throw before.demoted(seen);
    }
  }
}
