package io.gameq.healing;

import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import io.gameq.wal.WalWriter;
import java.util.function.Consumer;

/** A WAL as a replay reads it. */
public interface ReplaySource {
  /** The WAL that this node writes. */
  static ReplaySource of(WalWriter wal) {
    return new WalFiles(WalPlaces.of(wal), wal.id());
  }

  /** The WAL's name, under which Redis keeps its journal marks. */
  String id();

  /**
   * Hands over records in the order of their sequences; those that nobody needs any more, and are
   * gone, are left out.
   *
   * @param sequences in order
   */
  void read(long[] sequences, Records to);

  /**
   * Hands over the records of a stretch which change messages and are where they were written
   * first, in order, and the marks of failed commits among them.
   */
  default void readMessages(MessageRecords.Stretch of, Consumer<WalReader.Entry> to) {}

  /** Takes the records. */
  interface Records {
    /** A commit, or rows that were adopted; without its messages when those are too old. */
    void record(long sequence, WalRecord record);

    /** A record that the WAL cannot give back: it is damaged. */
    void unreadable(long sequence);
  }
}
