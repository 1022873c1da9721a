package io.gameq.writer.flushnow;

import io.gameq.redis.script.WaitingOwners.Unwritten;
import java.util.List;

/** What was there when a flush was asked for and is not in MySQL yet. Used by one thread. */
public interface FlushProgress {
  /**
   * What is left.
   *
   * @param isDone whether nothing is
   * @param text what is, in some words for who waits
   */
  record Left(boolean isDone, String text) {}

  /**
   * Looks again; some times a second is often enough.
   *
   * @throws io.gameq.GameQueueException when Redis does not answer; what was found stays found
   */
  Left look();

  /**
   * Owners with rows that are left, some of each slot: to tell from why they wait. Throws as {@link
   * #look}.
   */
  List<Unwritten> some();
}
