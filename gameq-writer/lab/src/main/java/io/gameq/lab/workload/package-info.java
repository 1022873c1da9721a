/**
 * What the game threads of every measurement do, repeatable from a seed, and what MySQL must hold
 * in the end.
 *
 * <pre>
 * Workload      the shape: players, skew, rows, bytes
 *   Actions     the endless actions of one game thread, each changing some rows of one player
 * BenchRow      a row as the game sees it
 * Model         the rows that MySQL must hold once so many actions of each thread are flushed
 *   Model.Check MySQL's rows compared with that: lost, torn, damaged
 * Fill          every row of the first players, written pass by pass: a backlog
 * WorkloadOptions, Range   the options that say what the game does, and how values are refused
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.workload;
