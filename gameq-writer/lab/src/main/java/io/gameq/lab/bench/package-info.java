/**
 * {@code gameq-lab bench}: what a commit, a flush and their whole cost, beside what Redis and MySQL
 * can do.
 *
 * <pre>
 * BenchCommand                     options: WorkloadOptions, MeasureOptions, GrowthOptions ──▶
 *                                  BenchOptions
 *   BenchRun                       on a BenchWorld: tables, node (BenchGame), writers, probes
 *     Round, for each round        closed, paced, pressure: Load     drain: Drain     limits:
 *                                  mysql, redis
 *     BothPart                     Load and a writer at once, BothSamples each second
 *     BacklogPart                  Filling, memory, claims, Drain
 *     RecoveryPart                 Load, all keys lost, Drain
 *   Growth                         the same few figures at each point of a curve, each in its own
 *                                  BenchWorld
 * workload                         what the game does, and what MySQL must hold then
 * report                           figures, table, JSON         plot  SVG of the growth curves
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.bench;
