package io.gameq.lab.compare;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * How many actions of each game thread were acknowledged: one number for each in a mapped file,
 * which survives a kill of the process. Each thread sets its own.
 */
final class AcknowledgedFile {
  private static final String NAME = "acknowledged";

  private final MappedByteBuffer numbers;
  private final int threads;

  private AcknowledgedFile(MappedByteBuffer numbers, int threads) {
    this.numbers = numbers;
    this.threads = threads;
  }

  /** Opens the one of a directory, and makes it when it is not there. */
  static AcknowledgedFile open(Path directory, int threads) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            directory.resolve(NAME),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      MappedByteBuffer numbers =
          channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) threads * Long.BYTES);
      numbers.order(ByteOrder.nativeOrder());
      return new AcknowledgedFile(numbers, threads);
    }
  }

  void set(int thread, long actions) {
    numbers.putLong(thread * Long.BYTES, actions);
  }

  /** Of every thread. */
  long[] all() {
    long[] all = new long[threads];
    for (int thread = 0; thread < threads; thread++) {
      all[thread] = numbers.getLong(thread * Long.BYTES);
    }
    return all;
  }
}
