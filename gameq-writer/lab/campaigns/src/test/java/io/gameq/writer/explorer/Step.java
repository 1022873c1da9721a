package io.gameq.writer.explorer;

/**
 * One atomic step of an actor.
 *
 * @param label what a path prints
 * @param server which server it runs on
 * @param changes whether it may change what is committed there
 * @param former whether, on Redis, it meets the former of two primaries
 */
record Step(String label, Server server, boolean changes, boolean former, Run run) {
  /** Where a step runs. */
  enum Server {
    REDIS,
    MYSQL
  }

  /** The real code of a step. */
  interface Run {
    /**
     * Runs against the servers of a world that is in the state the step was taken from; returns the
     * actor's new local state.
     */
    Local on(Servers world) throws Blocked;
  }

  static Step redis(String label, Run run) {
    return new Step(label, Server.REDIS, true, false, run);
  }

  static Step redisRead(String label, Run run) {
    return new Step(label, Server.REDIS, false, false, run);
  }

  static Step mysql(String label, Run run) {
    return new Step(label, Server.MYSQL, true, false, run);
  }

  static Step mysqlRead(String label, Run run) {
    return new Step(label, Server.MYSQL, false, false, run);
  }

  /** The same on the primary that somebody is connected to. */
  Step at(Reached primary, State state) {
    return new Step(label, server, changes, primary.isFormer(state), run);
  }

  /** The step waits for a lock of another transaction: it is not enabled now. */
  static final class Blocked extends Exception {
    private static final long serialVersionUID = 1L;

    Blocked() {
      super("waits for a lock", null, false, false);
    }
  }
}
