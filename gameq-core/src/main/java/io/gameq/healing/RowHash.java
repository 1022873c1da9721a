package io.gameq.healing;

import java.security.SecureRandom;

/**
 * 96 bits that stand for an owner or for a row of it, salted anew by every run, so that nobody can
 * aim for a collision: among 10 million rows two share a hash once in 10^15 runs. Not thread-safe.
 */
public final class RowHash {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final long saltA;
  private final long saltB;
  private long ownerA;
  private long ownerB;
  private long a;
  private long b;

  RowHash() {
    this(RANDOM.nextLong(), RANDOM.nextLong());
  }

  /** With salts of its own: for counting, where nobody gains by a collision. */
  public RowHash(long saltA, long saltB) {
    this.saltA = saltA;
    this.saltB = saltB;
  }

  /** Stands for an owner from now on. */
  public RowHash owner(String owner) {
    a = saltA;
    b = saltB;
    add(owner);
    ownerA = a;
    ownerB = b;
    return this;
  }

  /** Stands for a row of the owner given last. */
  public RowHash row(String key) {
    a = ownerA;
    b = ownerB;
    add(key);
    return this;
  }

  private void add(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      a = (a ^ c) * 0x9E3779B97F4A7C15L;
      a ^= a >>> 32;
      b = (b + c) * 0xD6E8FEB86659FD93L;
      b ^= b >>> 29;
    }
    a = (a ^ text.length()) * 0xBF58476D1CE4E5B9L;
    a ^= a >>> 31;
    b = (b ^ a) * 0x94D049BB133111EBL;
    b ^= b >>> 30;
  }

  /** The first 64 bits. */
  public long high() {
    return a;
  }

  /** All 96 bits, as a value. */
  Key key() {
    return new Key(a, (int) b);
  }

  /** What stands for a row or an owner in maps; immutable. */
  record Key(long high, int low) {
    /** The bits are mixed well enough. */
    @Override
    public int hashCode() {
      return (int) (high >>> 6) ^ low;
    }
  }
}
