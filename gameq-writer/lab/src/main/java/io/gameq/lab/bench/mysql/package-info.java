/**
 * The MySQL side of a benchmark.
 *
 * <pre>
 * BenchTables   bench_row and gameq's own tables: made, emptied, aged, dropped
 * RawMySql      the limit: the final rows as sorted upserts, on as many connections as the writer
 * MySqlFacts    version and settings, for the result
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.bench.mysql;
