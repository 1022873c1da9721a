package io.gameq.healing;

import io.gameq.wal.WalWriter;
import java.nio.file.Path;
import java.util.Map;

/** Where the records of a WAL stand, and that they stay there while they are read. */
interface WalPlaces {
  Path directory();

  /** Where the record of a sequence stands in the WAL now; 0 when it is gone, as not needed. */
  long place(long sequence);

  /** Nothing is deleted until {@link #release}. */
  void hold();

  void release();

  /** The WAL that this node writes. */
  static WalPlaces of(WalWriter wal) {
    return new WalPlaces() {
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
  static WalPlaces left(Path directory, Map<Long, Long> carried) {
    return new WalPlaces() {
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
