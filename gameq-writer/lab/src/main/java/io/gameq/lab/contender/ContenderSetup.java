package io.gameq.lab.contender;

import io.gameq.lab.workload.Workload;
import io.gameq.mysql.MySqlConfig;
import java.nio.file.Path;

/**
 * How a contender is set up, and where; travels as JSON to a child process. Immutable.
 *
 * @param recovers whether it goes on with what a killed process left, and no game threads come
 */
public record ContenderSetup(Workload.Shape shape, Tuning tuning, Place place, boolean recovers) {
  /**
   * What each contender takes as far as it lets one choose.
   *
   * @param workers threads that write to MySQL
   * @param slots of gameq's namespace
   * @param mergeWindowMillis of gameq
   * @param leaseMillis of gameq's claims
   */
  public record Tuning(int workers, int slots, long mergeWindowMillis, long leaseMillis) {}

  /**
   * Where it runs.
   *
   * @param name in the keys of everything in Redis, new for every run
   * @param directory for WALs and what must outlive a killed process
   */
  public record Place(
      String name,
      String redisUri,
      String jdbcUrl,
      String mysqlUser,
      String mysqlPassword,
      String directory) {
    /** The servers' MySQL, with a pool of this size. */
    public MySqlConfig mysql(int poolSize) {
      return new MySqlConfig(jdbcUrl, mysqlUser, mysqlPassword, poolSize);
    }

    public Path path() {
      return Path.of(directory);
    }

    /** Without secrets. */
    @Override
    public String toString() {
      return "Place[" + name + "]";
    }
  }

  /** The same for a process after a killed one. */
  public ContenderSetup recovering() {
    return new ContenderSetup(shape, tuning, place, true);
  }
}
