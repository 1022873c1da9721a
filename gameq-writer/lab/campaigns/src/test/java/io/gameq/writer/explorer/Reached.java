package io.gameq.writer.explorer;

import io.gameq.term.Term;
import org.jspecify.annotations.Nullable;

/**
 * The Redis primary that somebody is connected to.
 *
 * @param outages how many primaries, or restarts, there had been before it
 * @param term the number that it was settled to have; {@link Term#NOT_KNOWN} where none is compared
 * @param before the term that MySQL named before it was connected to; null once it is settled
 */
record Reached(int outages, long term, @Nullable Term before) {
  static final Reached FIRST = newest(0);

  /** Where no terms are compared. */
  static Reached newest(int outages) {
    return unsettled(outages, null);
  }

  static Reached unsettled(int outages, @Nullable Term before) {
    return new Reached(outages, Term.NOT_KNOWN, before);
  }

  Reached settled(long number) {
    return new Reached(outages, number, null);
  }

  /** Whether it was demoted, and serves those that have not noticed. */
  boolean isFormer(State state) {
    return state.former() != null && outages < state.outages();
  }
}
