package io.gameq.writer.explorer;

import java.util.List;

/** One of the cast: offers the steps that it could take in a state. Stateless. */
interface Actor {
  /** Before anything happened. */
  Local start();

  /** The steps that are possible now, but for locks. */
  List<Step> steps(State state, Local local);
}
