package io.gameq.config;

import io.gameq.OwnerHeldException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;

/** What an open does when another node, or this one, has the owner open. */
public enum Takeover {
  /**
   * Takes the owner over: {@link OwnerSession#lost} tells the other session's holder, whose next
   * commit fails with {@link OwnershipLostException}.
   */
  ALWAYS,
  /**
   * Takes the owner over only from a node that gave no sign of life for 15 s, else throws {@link
   * OwnerHeldException}; also when it is open on this same node. After Redis was away for longer
   * than half of that, or another server has taken its place, nobody is taken for gone until it has
   * been back for so long. Of several nodes that open an owner at the same moment one gets it, and
   * the others this exception.
   */
  UNLESS_ALIVE
}
