package io.gameq.lab.peers;

import io.gameq.lab.bench.workload.Workload;
import io.gameq.mysql.MySqlConfig;

/**
 * What one child process does; travels as JSON through its standard input. Immutable.
 *
 * @param inFlight most actions of a thread that wait for their acknowledgement; 1: closed loop
 */
record Job(
    Mode mode,
    String contender,
    int inFlight,
    Workload.Shape shape,
    Settings settings,
    Place place) {

  enum Mode {
    /** A warm-up, then the actions, until MySQL holds all of them. */
    MEASURE,
    /** Actions without end, until it is killed. */
    BE_KILLED,
    /** What a process after the killed one does, until its standard input ends. */
    RECOVER
  }

  /**
   * How contenders are set up.
   *
   * @param actions of all threads together
   * @param warmUpActions before that, under another seed
   * @param writers threads that write to MySQL, where a contender lets one choose
   * @param leaseMillis of gameq's claims
   */
  record Settings(
      long actions, long warmUpActions, int writers, int mergeWindowMillis, long leaseMillis) {}

  /**
   * Where it runs.
   *
   * @param name in the keys of everything in Redis, new for every run
   * @param directory for WALs and the acknowledged actions
   */
  record Place(
      String name,
      String redisUri,
      String jdbcUrl,
      String mysqlUser,
      String mysqlPassword,
      String directory) {
    MySqlConfig mysql(int poolSize) {
      return new MySqlConfig(jdbcUrl, mysqlUser, mysqlPassword, poolSize);
    }

    /** Without secrets. */
    @Override
    public String toString() {
      return "Place[" + name + "]";
    }
  }

  long actionsPerThread() {
    return settings.actions() / shape.threads();
  }

  /** The same with another workload, for the warm-up. */
  Workload.Shape warmUpShape() {
    return new Workload.Shape(
        ~shape.seed(),
        shape.players(),
        shape.skew(),
        shape.rowsPerPlayer(),
        shape.rowsPerAction(),
        shape.rowBytes(),
        shape.deletes(),
        shape.threads());
  }
}
