package io.gameq;

/** What an open does when another node has the owner open. */
public enum Takeover {
  /** Takes the owner over; the other node's next commit fails with OwnershipLostException. */
  ALWAYS,
  /**
   * Takes the owner over only from a node that gave no sign of life for {@value
   * io.gameq.redis.NodeHeartbeat#LIFE_SECONDS} s, else throws {@link OwnerHeldException}. Two nodes
   * that open a free owner at the same moment may both pass this check: then the later one owns.
   */
  UNLESS_ALIVE
}
