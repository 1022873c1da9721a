/** The Redis side of a benchmark: what the server alone can do, and what it holds. */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.bench.redis;
