package io.gameq.test;

import io.gameq.GameQueue;
import io.gameq.OwnershipLostException;

/**
 * Redis and MySQL of one test, in memory, with the nodes of the game that use them. Nothing is
 * shared with another test, and nothing needs to be closed. Thread-safe.
 *
 * <p>A commit is {@code queued} when it returns, and {@code durable} too, unless {@link
 * MemoryFaults} say otherwise. What the game hangs on futures, and handlers of topics, run on the
 * thread that causes it: that of the test.
 */
public final class MemoryServers {
  final MemoryStore store;

  private MemoryServers(TestSchema schema) {
    this.store = new MemoryStore(schema.catalog());
  }

  /**
   * Servers without rows.
   *
   * @throws io.gameq.GameQueueException naming the table, and column, that cannot be read or
   *     managed
   */
  public static MemoryServers of(TestSchema schema) {
    return new MemoryServers(schema);
  }

  /** Starts a node of the game; several share owners and topics, as on real servers. */
  public GameQueue open(String node) {
    return new MemoryQueue(node, store);
  }

  /** Their clock. */
  public TestClock clock() {
    return store.clock;
  }

  /** What goes wrong with them. */
  public MemoryFaults faults() {
    return store.faults;
  }

  /** Has everything that is queued in MySQL when it returns, unless MySQL is slow. */
  public void flush() {
    store.flush();
  }

  /**
   * Has an owner taken over, as by a node of which the test knows nothing: its session is lost, and
   * whatever it commits fails with {@link OwnershipLostException}.
   */
  public void takeOver(String owner) {
    try (GameQueue other = open("another-node")) {
      other.open(owner).close();
    }
  }
}
