package io.gameq.lab.contender;

import io.gameq.lab.load.Contender;
import io.gameq.lab.workload.Workload;
import java.util.Set;

/**
 * A contender by name, what a comparison has to know of it, and how it is opened. Immutable.
 *
 * @param name on the command line and in results
 * @param opening what makes it, connected
 */
public record ContenderType(String name, Holds holds, Set<Trait> traits, Opening opening) {
  /** Where acknowledged changes are until MySQL has them. */
  public enum Holds {
    NOTHING,
    IN_HEAP,
    IN_REDIS
  }

  /** What is not so of every contender. */
  public enum Trait {
    /** Takes an action before the one before it is acknowledged. */
    ASYNCHRONOUS,
    /** Its writer is a process of its own, beside the game's. */
    OWN_WRITER,
    /** Acknowledges what a file of the game's process holds: one that is killed starts again. */
    STARTS_AGAIN,
    /** Writes gameq's managed table, not {@link io.gameq.lab.contender.mysql.PeerTable}. */
    MANAGED_TABLE,
    /** Shows what a server can do; not killed. */
    LIMIT,
    /** Ends at Redis: MySQL is not looked at. */
    REDIS_ALONE,
    /** Takes part only where it is named. */
    ON_REQUEST
  }

  /** Connects a contender. */
  public interface Opening {
    Contender open(ContenderSetup setup) throws Exception;
  }

  /** Copies the traits. */
  public ContenderType {
    traits = Set.copyOf(traits);
  }

  /** A contender with these traits. */
  public static ContenderType of(String name, Holds holds, Opening opening, Trait... traits) {
    return new ContenderType(name, holds, Set.of(traits), opening);
  }

  public boolean is(Trait trait) {
    return traits.contains(trait);
  }

  /** The table that it writes. */
  public String table() {
    return is(Trait.MANAGED_TABLE) ? Workload.TABLE : Workload.PEER_TABLE;
  }
}
