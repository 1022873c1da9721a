package io.gameq.healing;

import io.gameq.healing.HealingStep.SessionName;
import java.util.List;
import java.util.Set;

/** Which records of a WAL change messages, and may be replayed. Used by one thread. */
public interface MessageRecords {
  /** Sequences of a WAL, from and to included. */
  record Stretch(long from, long to) {}

  /** Where records that change messages may be, beyond a sequence, in order. */
  List<Stretch> after(long sequence);

  /** Whether a record is not replayed: it is not sent yet, or waits to be sent again. */
  boolean isLeftOut(long sequence);

  /** Does not replay the messages of records whose rows are lost for good, until all is healed. */
  void leaveOut(Set<Long> sequences);

  /** Whether commits of a stretch may have failed. */
  boolean mayHaveFailed(Stretch of);

  /** Whether the node no longer holds this session because it was lost. */
  boolean wasLost(SessionName session);
}
