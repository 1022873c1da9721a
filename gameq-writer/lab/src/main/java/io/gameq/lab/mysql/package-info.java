/**
 * A harness' own look at MySQL, past gameq and all contenders.
 *
 * <pre>
 * ScratchDatabase   an empty database that a command fills itself; SchemaFacts: what it holds
 * BenchTables       bench_row, which gameq manages, peer_row, and gameq's own: made, aged, dropped
 * StoredRows        what the first two hold: summed up, compared with a model, emptied
 * MySqlFacts        version and settings, for the result
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.mysql;
