/**
 * {@code gameq-lab compare}: gameq beside what a team would pick instead: same rows, same servers,
 * same check.
 *
 * <pre>
 * CompareCommand       options: CompareOptions, workload.WorkloadOptions, scratch.ScratchOptions
 *   Comparison         rounds that interleave the contenders, then the kills; empties tables
 *     ChildProcess     a fresh JVM for each measurement, told what to do by a ChildJob
 *       ContenderChild what runs in it: warm-up, Load, until MySQL holds everything: Figures
 *       AcknowledgedFile   what was acknowledged before a kill
 *   ComparisonTable    a line for each contender
 * contender            who is measured        load, tables, report   shared with bench
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.compare;
