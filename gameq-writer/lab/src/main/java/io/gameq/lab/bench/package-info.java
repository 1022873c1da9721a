/**
 * {@code gameq-lab bench}: what a commit, a flush and their whole cost, beside what Redis and MySQL
 * can do.
 *
 * <pre>
 * BenchCommand                     options: workload.WorkloadOptions, MeasureOptions,
 *                                  GrowthOptions ──▶ BenchOptions
 *   BenchRun                       on a BenchWorld: tables, node (contender.gameq.GameqNode),
 *                                  writers, probes
 *     Round, for each round        closed, paced, pressure: Load     drain: DrainPart
 *       LimitsPart                 raw-mysql, raw-redis, plain-client
 *     BothPart                     Load and a writer at once, BothSamples each second
 *     BacklogPart                  Filling, memory, claims, DrainPart
 *     RecoveryPart                 Load, all keys lost, DrainPart
 *     TopicsPart                   TopicLoad: messages, and a handler that does nothing
 *   Growth                         the same few figures at each point of a curve, each in its own
 *                                  BenchWorld
 * contender, load, report          shared with compare         plot  SVG of the growth curves
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.bench;
