package io.gameq.healing;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.JournalMarks;
import java.util.Set;

/**
 * What the {@linkplain HealingStep steps} of a healing reach: the servers, the WAL, and what the
 * node knows. Used by one thread.
 */
public interface HealingPorts {
  /** A new connection, which flushes by itself. */
  RedisConnection redis();

  /** All of the namespace. */
  SlotKeys[] slots();

  DurableTruth truth();

  HeldSessions sessions();

  ReplaySource wal();

  UnansweredCommits unanswered();

  /** When what is put back is due, Unix ms by the clock of Redis. */
  long dueMillis();

  /** What is to be replayed. A healing that does not come to its end leaves it to the next one. */
  RecordsToReplay owed();

  void owed(RecordsToReplay now);

  /** The journal marks, as they were read or written last. */
  JournalMarks marks();

  void marks(JournalMarks now);

  /** Whether the marks are to be written: not while nothing but room in Redis was lacking. */
  default boolean writesMarks() {
    return true;
  }

  /** By slot, the newest sequence that was answered; 0 for none. */
  long[] newest();

  /**
   * By slot, the sequence up to which Redis holds everything or what it does not hold is decided,
   * now that what was lost is put back; negative where that is not known.
   */
  long[] settled();

  /** What may be replayed of messages. */
  MessageRecords messages();

  /** Redis lost these records, and they are not replayed for good. */
  void notReplayed(Set<Long> sequences);

  /** How much one step does. */
  AtOnce atOnce();

  /** Records were sent to Redis again. */
  default void replayed(int records) {}

  /** Messages of records were put into Redis again. */
  default void putMessagesBack() {}

  /**
   * How much one step does.
   *
   * @param sessions re-asserted together
   * @param records replayed together
   */
  record AtOnce(int sessions, int records) {
    /** Re-asserts are sent together, and all records in one pass over the WAL. */
    public static final AtOnce PIPELINED = new AtOnce(500, Integer.MAX_VALUE);
  }
}
