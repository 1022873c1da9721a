package io.gameq.writer.process;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Adds up what all nodes and writers say that they did since they started, from the first look on:
 * a process that ends takes nothing away, and one that starts anew begins at 0. Used by one thread.
 */
public final class FleetWork {
  private final Map<String, Sum> before = new HashMap<>();
  private Sum sum = Sum.NOTHING;
  private boolean isFirst = true;

  /**
   * What was done.
   *
   * @param commits that nodes made
   * @param committedRows of these
   * @param flushes that writers committed
   * @param rows that they wrote
   */
  public record Sum(long commits, long committedRows, long flushes, long rows) {
    static final Sum NOTHING = new Sum(0, 0, 0, 0);

    private Sum plus(Sum now, Sum was) {
      return new Sum(
          commits + Math.max(0, now.commits - was.commits),
          committedRows + Math.max(0, now.committedRows - was.committedRows),
          flushes + Math.max(0, now.flushes - was.flushes),
          rows + Math.max(0, now.rows - was.rows));
    }
  }

  /** All of it after a look. */
  public Sum after(Processes look) {
    Set<String> there = new HashSet<>();
    for (ListedNode node : look.nodes()) {
      there.add(node.id());
      add(node.id(), new Sum(node.sign().commits().commits(), node.sign().commits().rows(), 0, 0));
    }
    for (ListedWriter writer : look.writers()) {
      there.add(writer.id());
      add(writer.id(), new Sum(0, 0, writer.sign().work().flushes(), writer.sign().work().rows()));
    }
    before.keySet().retainAll(there);
    isFirst = false;
    return sum;
  }

  /** What a process did since the look before; all of it when it has started since. */
  private void add(String process, Sum now) {
    Sum was = before.put(process, now);
    if (!isFirst) {
      sum = sum.plus(now, was == null ? Sum.NOTHING : was);
    }
  }
}
