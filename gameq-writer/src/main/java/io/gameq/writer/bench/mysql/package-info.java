/** The MySQL side of a benchmark: what the server alone can do. */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.bench.mysql;
