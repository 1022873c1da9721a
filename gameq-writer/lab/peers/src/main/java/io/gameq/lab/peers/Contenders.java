package io.gameq.lab.peers;

import io.gameq.lab.bench.workload.Workload;
import java.util.Arrays;

/** The contenders by name, and what the harness has to know of each. */
enum Contenders {
  /** A transaction of one upsert for each row. */
  SYNC_ROWS("sync-3", Holds.NOTHING, false),
  /** One multi-row upsert. */
  SYNC_STATEMENT("sync-1", Holds.NOTHING, false),
  SEED("seed", Holds.IN_REDIS, false), // its consumers are its limit, not the game threads
  REDISSON("redisson", Holds.IN_REDIS, true),
  HAZELCAST("hazelcast", Holds.IN_HEAP, false),
  EHCACHE("ehcache", Holds.IN_HEAP, false),
  GAMEQ("gameq", Holds.IN_REDIS, true),
  /** Throws changes away: shows that the harness finds it out. */
  FORGETFUL("forgetful", Holds.NOTHING, false);

  /** Where acknowledged changes are until MySQL has them. */
  enum Holds {
    NOTHING,
    IN_HEAP,
    IN_REDIS
  }

  private final String text;
  private final Holds holds;
  private final boolean asynchronous;

  Contenders(String text, Holds holds, boolean asynchronous) {
    this.text = text;
    this.holds = holds;
    this.asynchronous = asynchronous;
  }

  /** Throws {@link IllegalArgumentException} that lists the names. */
  static Contenders named(String text) {
    return Arrays.stream(values())
        .filter(of -> of.text.equals(text))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no contender '"
                        + text
                        + "': use "
                        + Arrays.stream(values()).map(of -> of.text).toList()));
  }

  String text() {
    return text;
  }

  Holds holds() {
    return holds;
  }

  /** Whether it takes an action before the one before it is acknowledged. */
  boolean isAsynchronous() {
    return asynchronous;
  }

  /** The table that it writes: gameq's is managed. */
  String table() {
    return this == GAMEQ ? Workload.TABLE : PeerTable.NAME;
  }

  Contender open(Job job) throws Exception {
    return switch (this) {
      case SYNC_ROWS -> new SynchronousContender(job, false);
      case SYNC_STATEMENT -> new SynchronousContender(job, true);
      case SEED -> new SeedContender(job);
      case REDISSON -> new RedissonContender(job);
      case HAZELCAST -> new HazelcastContender(job);
      case EHCACHE -> new EhcacheContender(job);
      case GAMEQ -> new GameqContender(job);
      case FORGETFUL -> new ForgetfulContender(job);
    };
  }
}
