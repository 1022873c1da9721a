package io.gameq.healing;

import java.util.List;

/** Which records of a WAL change messages, and which of them a healing owes. Used by one thread. */
public interface MessageRecords {
  /** Of a WAL without any. */
  MessageRecords NONE =
      new MessageRecords() {
        @Override
        public LackingMessages lacking() {
          return LackingMessages.NONE;
        }

        @Override
        public void lacking(LackingMessages now) {}

        @Override
        public long[] newest() {
          return new long[0];
        }

        @Override
        public List<Stretch> after(long sequence) {
          return List.of();
        }

        @Override
        public long kept() {
          return 0;
        }

        @Override
        public boolean isLeftOut(long sequence) {
          return false;
        }

        @Override
        public boolean mayHaveFailed(Stretch of) {
          return false;
        }

        @Override
        public boolean wasLost(SessionName session) {
          return false;
        }
      };

  /** Sequences of a WAL, from and to included. */
  record Stretch(long from, long to) {}

  /** What is owed; a healing that is cut short leaves it to the next. */
  LackingMessages lacking();

  void lacking(LackingMessages now);

  /** By slot: the newest record that changes messages there, 0 for none; empty: none anywhere. */
  long[] newest();

  /** Where records that change messages may be, beyond a sequence, in order. */
  List<Stretch> after(long sequence);

  /** The sequence below which no record is replayed any more. */
  long kept();

  /** Whether a record is not replayed: it is not sent yet, or waits to be sent again. */
  boolean isLeftOut(long sequence);

  /** Whether commits of a stretch may have failed. */
  boolean mayHaveFailed(Stretch of);

  /** Whether the node no longer holds this session because it was lost. */
  boolean wasLost(SessionName session);
}
