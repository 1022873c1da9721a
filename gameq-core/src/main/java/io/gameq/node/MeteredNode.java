package io.gameq.node;

import io.gameq.sign.NodeCounts;
import io.gameq.sign.NodeSign;

/** What the meters of a node show; asks no server and waits for nobody. Thread-safe. */
public interface MeteredNode {
  /** What it did. */
  NodeCounts counts();

  /** How it is. */
  NodeSign sign();

  /** Calls of the game's own code that wait. */
  int callbacks();

  /** Whether Redis is there and has all that this node knows. */
  boolean isHealed();
}
