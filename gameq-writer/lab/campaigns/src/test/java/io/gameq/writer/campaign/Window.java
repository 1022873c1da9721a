package io.gameq.writer.campaign;

/**
 * A time in which acknowledged changes may be missing: from just before replication was cut until
 * the nodes had healed; immutable. In {@link System#nanoTime}.
 */
public record Window(long from, long until) {
  boolean overlaps(Sighting seen) {
    return seen.from() <= until && seen.until() >= from;
  }

  boolean holds(long nanos) {
    return nanos >= from && nanos <= until;
  }
}
