/**
 * What a benchmark does, repeatable from a seed, and what MySQL must hold in the end.
 *
 * <pre>
 * Workload      the shape: players, skew, rows, bytes
 *   Actions     the endless actions of one game thread, each changing some rows of one player
 * BenchRow      a row as the game sees it
 * Model         the rows that MySQL must hold once so many actions of each thread are flushed
 *   Check       MySQL's rows compared with that: lost, torn, damaged
 * Fill          every row of the first players, written pass by pass: a backlog
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.bench.workload;
