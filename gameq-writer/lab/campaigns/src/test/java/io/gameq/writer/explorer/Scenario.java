package io.gameq.writer.explorer;

import java.util.List;
import java.util.function.Function;

/**
 * A small cast and how it begins.
 *
 * @param cast its actors, by the plant they act under; workers name their own places
 * @param prepared how many ops of each node are done before the exploration begins
 * @param drainedFirst whether the writers have flushed those
 * @param movingRow an item that must always be seen with exactly one of two owners; 0 for none
 */
record Scenario(
    String name,
    Function<Plant, List<Actor>> cast,
    List<Integer> prepared,
    boolean drainedFirst,
    int movingRow) {
  @Override
  public String toString() {
    return name;
  }
}
