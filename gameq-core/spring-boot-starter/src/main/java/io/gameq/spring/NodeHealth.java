package io.gameq.spring;

import io.gameq.GameQueue;
import io.gameq.node.NodeQueue;
import io.gameq.sign.NodeSign;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Whether the queue can do all it is there for. Asks no server: what the node has seen last.
 * Immutable.
 *
 * @param up both servers answer, and Redis has all that this node knows
 * @param details names without addresses
 */
record NodeHealth(boolean up, Map<String, Object> details) {
  /** How it is now. */
  static NodeHealth of(QueueOfContext context) {
    GameQueue queue = context.now();
    Map<String, Object> details = new LinkedHashMap<>();
    if (!(queue instanceof NodeQueue node)) {
      details.put("queue", "not open");
      return new NodeHealth(false, details);
    }
    NodeSign sign = node.sign();
    boolean healed = node.isHealed();
    details.put("queue", sign.phase());
    details.put("redis", healed ? "up" : "away");
    details.put("mysql", sign.mysql() ? "up" : "away");
    details.put("sessions", sign.sessions().sessions());
    details.put("waiting", sign.commits().waiting());
    return new NodeHealth(healed && sign.mysql() && sign.phase().equals(NodeSign.RUNNING), details);
  }
}
