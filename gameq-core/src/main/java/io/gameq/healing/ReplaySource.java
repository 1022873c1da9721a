package io.gameq.healing;

import io.gameq.wal.WalWriter;
import java.nio.file.Path;
import java.util.Map;

/** A WAL as a replay reads it: where its records stand, and that they stay while they are read. */
interface ReplaySource {
  Path directory();

  /** Where the record of a sequence stands in the WAL now; 0 when it is gone, as not needed. */
  long place(long sequence);

  /** Nothing is deleted until {@link #release}. */
  void hold();

  void release();

  /** The WAL that this node writes. */
  static ReplaySource of(WalWriter wal) {
    return new ReplaySource() {
      @Override
      public Path directory() {
        return wal.directory();
      }

      @Override
      public long place(long sequence) {
        return wal.place(sequence);
      }

      @Override
      public void hold() {
        wal.hold();
      }

      @Override
      public void release() {
        wal.release();
      }
    };
  }

  /**
   * A WAL that nobody writes any more.
   *
   * @param carried where records stand that were carried forward
   */
  static ReplaySource left(Path directory, Map<Long, Long> carried) {
    return new ReplaySource() {
      @Override
      public Path directory() {
        return directory;
      }

      @Override
      public long place(long sequence) {
        return carried.getOrDefault(sequence, sequence);
      }

      @Override
      public void hold() {}

      @Override
      public void release() {}
    };
  }
}
