package io.gameq.recovery.wal;

/**
 * A set of numbers other than 0, in about 16 bytes each, however large they are. Not thread-safe.
 */
public final class LongSet {
  private long[] places = new long[64];
  private int size;

  /** Adds a number; 0 counts as 1. */
  public void add(long number) {
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

  public boolean contains(long number) {
    return number != 0 && places[place(number)] == number;
  }

  private int place(long value) {
    int mask = places.length - 1;
    long mixed = value * 0x9E3779B97F4A7C15L; // sequences follow one another
    int at = (int) (mixed ^ mixed >>> 32) & mask;
    while (places[at] != 0 && places[at] != value) {
      at = (at + 1) & mask;
    }
    return at;
  }

  public int size() {
    return size;
  }
}
