package io.gameq.lab.compare;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.load.Load;

/**
 * What one child process does; travels as JSON through its standard input. Immutable.
 *
 * @param contender its name
 * @param inFlight most actions of a thread that wait for their acknowledgement; 1: closed loop
 * @param actions of all threads together
 * @param warmUpActions before that, under another seed
 */
record ChildJob(
    Mode mode,
    String contender,
    int inFlight,
    long actions,
    long warmUpActions,
    ContenderSetup setup) {

  enum Mode {
    /** A warm-up, then the actions, until MySQL holds all of them. */
    MEASURE,
    /** Actions without end, until it is killed. */
    BE_KILLED,
    /** What a process after the killed one does, until its standard input ends. */
    RECOVER
  }

  long actionsPerThread() {
    return Math.max(1, actions / setup.shape().threads());
  }

  long warmUpActionsPerThread() {
    return warmUpActions / setup.shape().threads();
  }

  Load.Pace pace() {
    return inFlight == 1 ? Load.Pace.closedLoop(0) : Load.Pace.pressure(inFlight);
  }

  /** What a process after the killed one does. */
  ChildJob recovery() {
    return new ChildJob(Mode.RECOVER, contender, 1, 0, 0, setup.recovering());
  }
}
