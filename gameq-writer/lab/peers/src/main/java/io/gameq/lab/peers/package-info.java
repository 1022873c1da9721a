/**
 * gameq beside what a team would pick instead: same rows, same servers, same check.
 *
 * <pre>
 * Main                 the command line
 *   Comparison         rounds that interleave the contenders, then the kills; empties tables
 *                      between
 *     ChildProcess     a fresh JVM for each measurement, told what to do by a Job
 *       Child          what runs in it: warm-up, Load, until MySQL holds everything: a Measurement
 *   Report             the table and the JSON
 * Contender            what is measured: SynchronousContender, SeedContender, RedissonContender,
 *                      HazelcastContender, EhcacheContender, GameqContender
 * PeerTable            the peers' upserts
 * BenchTables          the harness' own look at MySQL, past all contenders
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.peers;
