package io.gameq.change;

import java.util.Collection;
import java.util.function.LongConsumer;

/** What of one session may have to be sent to Redis again, from the WAL. Thread-safe. */
public interface Unsettled {
  /**
   * Hands over the WAL sequences of records with rows that are not known to be in MySQL and that
   * Redis may have lost: rows it acknowledged in commits beyond the journal mark, and those of
   * which a mark tells nothing, because the session adopted them or they were sent out of order. Of
   * a row that a trade changed also what it was before, since the trade may not be replayed.
   *
   * @param mark the newest WAL sequence that Redis holds, 0 for none
   * @param sequences may get a sequence more than once, in no order
   */
  void beyond(long mark, LongConsumer sequences);

  /**
   * Hands over the WAL sequences of a lost session's rows that may be in neither Redis nor MySQL,
   * and that no session of this node which owns has adopted.
   *
   * @param sequences may get a sequence more than once, in no order
   */
  default void doubtful(LongConsumer sequences) {
    beyond(0, sequences);
  }

  /**
   * Redis lost something and has taken commits since: what is said to be in MySQL up to a version
   * says nothing of the rows that were acknowledged by now.
   */
  void doubt();

  /**
   * It is not decided whether this WAL record is replayed: what is said to be in MySQL up to a
   * version says nothing of these rows of it.
   */
  default void doubt(long sequence, Collection<String> rows) {}
}
