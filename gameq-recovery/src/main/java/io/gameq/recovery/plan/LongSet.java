package io.gameq.recovery.plan;

/** A set of numbers other than 0, in 16 bytes each. Not thread-safe. */
final class LongSet {
  private long[] places = new long[64];
  private int size;

  void add(long number) {
    long value = number == 0 ? 1 : number;
    int at = place(value);
    if (places[at] == 0) {
      places[at] = value;
      if (++size > places.length * 7L / 10) {
        long[] old = places;
        places = new long[old.length * 2];
        for (long other : old) {
          if (other != 0) {
            places[place(other)] = other;
          }
        }
      }
    }
  }

  private int place(long value) {
    int mask = places.length - 1;
    int at = (int) (value ^ value >>> 32) & mask;
    while (places[at] != 0 && places[at] != value) {
      at = (at + 1) & mask;
    }
    return at;
  }

  int size() {
    return size;
  }
}
