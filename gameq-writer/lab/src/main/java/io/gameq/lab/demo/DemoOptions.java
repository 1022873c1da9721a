package io.gameq.lab.demo;

/**
 * How a demo runs; immutable.
 *
 * @param commitsPerSecond the pace of all drivers together; 0: as fast as they can
 */
record DemoOptions(
    int seconds,
    int players,
    int nodes,
    int writers,
    int commitsPerSecond,
    long seed,
    boolean breakVerification) {}
