package io.gameq.lab.contender;

import io.gameq.lab.workload.Workload;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import java.nio.file.Path;

/**
 * How a contender is set up, and where; travels as JSON to a child process. Immutable.
 *
 * @param role which part of it runs in this process
 */
public record ContenderSetup(Workload.Shape shape, Tuning tuning, Place place, Role role) {
  /** A part of a contender that runs in a process. */
  public enum Role {
    /** The game, and the writer of those that have it in the same process. */
    GAME,
    /** No game threads come: it writes what the game leaves, or left, outside of its process. */
    WRITER
  }

  /**
   * What each contender takes as far as it lets one choose.
   *
   * @param workers threads that write to MySQL
   * @param slots of gameq's namespace
   * @param mergeWindowMillis how long changes wait for later ones of the same row
   * @param leaseMillis of gameq's claims
   */
  public record Tuning(int workers, int slots, long mergeWindowMillis, long leaseMillis) {
    public Tuning withLease(long millis) {
      return new Tuning(workers, slots, mergeWindowMillis, millis);
    }

    /** For those that take whole seconds: at least one. */
    public int mergeWindowSeconds() {
      return (int) Math.max(1, Math.round(mergeWindowMillis / 1e3));
    }
  }

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

    /** The same with another directory. */
    public Place in(Path other) {
      return new Place(name, redisUri, jdbcUrl, mysqlUser, mysqlPassword, other.toString());
    }

    /** Without secrets. */
    @Override
    public String toString() {
      return "Place[" + name + "]";
    }
  }

  public ContenderSetup with(Role other) {
    return new ContenderSetup(shape, tuning, place, other);
  }

  public ContenderSetup with(Tuning other) {
    return new ContenderSetup(shape, other, place, role);
  }

  public ContenderSetup with(Place other) {
    return new ContenderSetup(shape, tuning, other, role);
  }

  public ContenderSetup withThreads(int threads) {
    return new ContenderSetup(shape.withThreads(threads), tuning, place, role);
  }
}
