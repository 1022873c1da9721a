/**
 * What a benchmark says in the end.
 *
 * <pre>
 * parts ──▶ BenchResult ──▶ Report      a table on the terminal
 *             Figures           │
 *               Figure          └─────▶ ResultJson  everything, with Machine and the servers' facts
 *             Series      (one sample a second)
 *             checks      (MySQL compared with the model)
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.bench.report;
