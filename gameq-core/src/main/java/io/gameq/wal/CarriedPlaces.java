package io.gameq.wal;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.LongStream;

/** Where records stand by now: most where they were written first. Not thread-safe. */
final class CarriedPlaces {
  private final Map<Long, Long> places = new HashMap<>();

  /** Notes that a record stands in another place too, from where it is to be read. */
  void put(long sequence, long place) {
    places.put(sequence, place);
  }

  /** Forgets records that nothing needs any more. */
  void keepOnly(long[] needed) {
    places.keySet().removeIf(sequence -> Arrays.binarySearch(needed, sequence) < 0);
  }

  boolean has(long sequence) {
    return places.containsKey(sequence);
  }

  long of(long sequence) {
    return places.isEmpty() ? sequence : places.getOrDefault(sequence, sequence);
  }

  /** The places of records, the lowest first. */
  long[] of(long[] sequences) {
    return places.isEmpty() ? sequences : LongStream.of(sequences).map(this::of).sorted().toArray();
  }
}
