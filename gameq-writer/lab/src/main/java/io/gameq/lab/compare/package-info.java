/**
 * {@code gameq-lab compare}: gameq beside what a team would pick instead: same rows, same servers,
 * same check.
 *
 * <pre>
 * CompareCommand       options: CompareOptions, workload.WorkloadOptions, scratch.ScratchOptions
 *   Comparison         rounds that interleave the contenders, then the kills
 *     MeasuredRound    a contender in a Group, gameq's game and writer as two processes
 *     KilledRun        what is missing after a kill of one of them
 *       TestBed        empties everything before each, compares MySQL row by row after it
 *       ChildProcess   a fresh JVM, told what to do by a ChildJob, answers with a ChildReport
 *         ContenderChild   what runs in it
 *           Measurement    warm-up, Load, until MySQL holds everything (PerformedRows): figures,
 *                          ProcessorTime
 *             LoadSamples  of a load of a given pace: tenth by tenth of its time
 *           AcknowledgedFile   what was acknowledged before a kill
 *   ComparisonTable    a line for each contender, in Markdown
 * contender            who is measured        load, tables, report   shared with bench
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.compare;
