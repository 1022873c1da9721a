package io.gameq.writer.setup;

import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.term.Term;
import io.gameq.term.Term.Primary;
import io.gameq.term.Terms;

/** A game in which no Redis primary has counted yet: the one that Sentinel names may. */
final class AnyPrimary implements Terms {
  /** A connection to it. */
  static RedisConnection open(RedisConnector connector) {
    return new PrimaryConnector(connector, new AnyPrimary()).openForTool().redis();
  }

  @Override
  public Term current() {
    return new Term(0, "", "", "", Primary.NO_SENTINEL, "", 0);
  }

  @Override
  public boolean moveOn(Term from, Primary to) {
    return false;
  }

  @Override
  public void alive(Term of, Primary seen) {}
}
