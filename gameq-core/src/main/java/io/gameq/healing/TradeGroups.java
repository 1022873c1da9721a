package io.gameq.healing;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Owners whose lost rows were committed together, and how much each 256th of all owners has lost.
 * What was committed together is to become visible together. Not thread-safe.
 */
final class TradeGroups {
  /** Owners fall into so many buckets, which are replayed some at a time. */
  static final int BUCKETS = 256;

  private final Map<String, String> parents = new HashMap<>();
  private final long[] bytes = new long[BUCKETS];

  void count(String owner, int size) {
    bytes[bucketOf(owner)] += size;
  }

  /** Joins the owners of each spanning commit in a batch; a commit never lies in two batches. */
  void join(List<WalRow> batch, Predicate<WalRow> isReplay) {
    for (int from = 0; from < batch.size(); ) {
      int to = from + 1;
      while (to < batch.size() && isSameRecord(batch.get(from), batch.get(to))) {
        to++;
      }
      String first = null;
      for (int i = from; i < to && spans(batch, from, to); i++) {
        String owner = batch.get(i).owner().encoded();
        if (isReplay.test(batch.get(i))) {
          first = first == null ? owner : first;
          join(first, owner);
        }
      }
      from = to;
    }
  }

  private static boolean isSameRecord(WalRow a, WalRow b) {
    return a.wal() == b.wal() && a.sequence() == b.sequence();
  }

  private static boolean spans(List<WalRow> batch, int from, int to) {
    return !batch.get(from).owner().equals(batch.get(to - 1).owner());
  }

  private void join(String a, String b) {
    String rootA = root(a);
    String rootB = root(b);
    if (!rootA.equals(rootB)) {
      parents.put(rootB, rootA);
    }
  }

  /** The owner that stands for all that traded with this one; itself when nobody did. */
  String root(String owner) {
    String root = owner;
    for (String parent; (parent = parents.get(root)) != null; ) {
      root = parent;
    }
    for (String at = owner; !at.equals(root); ) { // shorter ways next time
      String next = parents.put(at, root);
      at = next == null ? root : next;
    }
    return root;
  }

  private static int bucketOf(String owner) {
    int h = owner.hashCode() * 0x9E3779B9;
    return h >>> 24;
  }

  /** The bucket that an owner is replayed with. */
  int bucket(String owner) {
    return bucketOf(root(owner));
  }

  /** Bytes that each bucket is to replay, nearly: owners that traded count where they are alone. */
  long[] bytes() {
    return bytes.clone();
  }
}
