package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.script.ProcessSigns;
import io.gameq.sign.NodeSign;
import io.gameq.sign.SignFields;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells Redis how this node is, for operators; whether it counts as alive its heartbeat says, and
 * nothing else. Thread-safe; what it said last is still there when the process was killed.
 */
final class StateSigns {
  private static final Logger LOG = LoggerFactory.getLogger(StateSigns.class);

  private final ControlConnection redis;
  private final ProcessSigns signs;
  private final String process;
  private boolean ended;

  /**
   * Of a node process.
   *
   * @param process its id, 8 hex digits
   */
  StateSigns(ControlConnection redis, ProcessSigns signs, String process) {
    this.redis = redis;
    this.signs = signs;
    this.process = process;
  }

  /** To be called every few seconds; throws GameQueueException when Redis does not take it. */
  synchronized void tell(NodeSign sign) {
    if (!ended) {
      say(sign);
    }
  }

  private void say(NodeSign sign) {
    Map<String, String> fields = SignFields.of(sign);
    redis.call(
        connection -> {
          signs.tell(connection, process, ProcessSigns.NODE, fields);
          return true;
        });
  }

  /** Before anything is opened; it is told again and again. */
  void tellFirst(NodeSign sign) {
    best("say how this node is", () -> tell(sign));
  }

  /** All of the node is in MySQL: nobody needs to know of it any more. */
  synchronized void leave() {
    ended = true;
    forget(process);
  }

  /** The node ends, and its WAL is kept. */
  synchronized void endWith(NodeSign sign) {
    ended = true;
    best("say that the WAL is kept", () -> say(sign));
  }

  /** What an earlier start of this node left is replayed: nobody needs to see to it any more. */
  void forget(String ofProcess) {
    best(
        "take back what process " + ofProcess + " said",
        () -> redis.call(connection -> signs.forget(connection, ofProcess)));
  }

  private static void best(String what, Runnable call) {
    try {
      call.run();
    } catch (GameQueueException e) {
      LOG.debug("cannot {}: {}", what, e.getMessage());
    }
  }
}
