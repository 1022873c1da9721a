package io.gameq.recovery.failover;

import java.util.Random;

/**
 * One kind of failover; immutable.
 *
 * @param replicas of the primary, at first
 * @param sentinels that watch it; 0 for a Redis that is alone
 * @param loses whether Redis must forget acknowledged changes, else the case has tested nothing
 * @param setsClocks whether it sets clocks of running processes, which not every machine can do
 */
record Failover(
    String name,
    int replicas,
    int sentinels,
    boolean loses,
    boolean setsClocks,
    Injection injection) {
  Failover(String name, int replicas, int sentinels, boolean loses, Injection injection) {
    this(name, replicas, sentinels, loses, false, injection);
  }

  /** Makes it happen, and returns once there is a primary again. */
  interface Injection {
    void inject(FailoverWorld world, Random random) throws Exception;
  }

  /** A primary, one replica and three Sentinels; acknowledged changes are lost. */
  static Failover of(String name, Injection injection) {
    return new Failover(name, 1, 3, true, injection);
  }

  /** The same, with servers and nodes whose clocks can be set. */
  static Failover ofClocks(String name, Injection injection) {
    return new Failover(name, 1, 3, true, true, injection);
  }
}
