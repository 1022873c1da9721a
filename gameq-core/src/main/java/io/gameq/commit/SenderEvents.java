package io.gameq.commit;

import io.gameq.sign.NodeCounts;
import java.util.Set;

/** What a sender tells its node, on its own thread: it must be quick. */
public interface SenderEvents {
  /** Where it counts what it does. */
  NodeCounts counts();

  /** The node has healed after a connection broke. */
  void healed();

  /** Redis lost these WAL records, and they are not replayed for good. */
  void notReplayed(Set<Long> sequences);

  /** The sender met an error that nothing helps against, and does nothing any more. */
  void died(Throwable cause);
}
