package io.gameq.lab.compare;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.load.Load;

/**
 * What one child process does; travels as JSON through its standard input. Immutable.
 *
 * @param contender its name
 * @param seconds of the load that is measured
 * @param warmUpSeconds of load before that, under another seed
 */
record ChildJob(
    Mode mode,
    String contender,
    Load.Pace pace,
    double seconds,
    double warmUpSeconds,
    ContenderSetup setup) {

  enum Mode {
    /** A warm-up, then the load, until MySQL holds all of it. */
    MEASURE,
    /** A warm-up, then actions without end, until it is killed or told to stop. */
    PLAY,
    /** Writes beside a game, and says how much, until its standard input ends. */
    WRITE,
    /** What a process after a killed one does, until its standard input ends. */
    TAKE_OVER
  }

  /** A process without game threads, of the same contender. */
  ChildJob as(ContenderSetup.Role role, Mode other) {
    return new ChildJob(other, contender, Load.Pace.closedLoop(0), 0, 0, setup.with(role));
  }
}
