package io.gameq.recovery.redis;

import io.gameq.term.Term;
import io.gameq.term.Term.Primary;
import io.gameq.term.Terms;

/** A game in which no Redis primary has counted yet: all may. */
final class NoTerm implements Terms {
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
