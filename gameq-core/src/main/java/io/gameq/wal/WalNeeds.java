package io.gameq.wal;

/**
 * What of a WAL may still have to be replayed.
 *
 * @param from everything from this sequence on: it is on its way or in the newest file, and is not
 *     carried forward
 * @param records sequences of older records, each once, the lowest first: their rows wait for MySQL
 * @param messagesFrom everything from this sequence on stays while there is room, as if it were
 *     younger than {@link io.gameq.WalLimits#keep}: Redis may yet lose the messages of it
 */
public record WalNeeds(long from, long[] records, long messagesFrom) {
  /** Without messages. */
  public WalNeeds(long from, long[] records) {
    this(from, records, Long.MAX_VALUE);
  }

  /** Only what comes from a sequence on. */
  public static WalNeeds from(long sequence) {
    return new WalNeeds(sequence, new long[0]);
  }
}
