/**
 * What a measurement says in the end: of the benchmark and of the comparison alike.
 *
 * <pre>
 * parts ──▶ BenchResult ──▶ Report      a table on the terminal (compare has one of its own)
 *             Figures           │
 *               Figure          └─────▶ ResultJson  everything, with Machine and the servers' facts (RunConditions)
 *             Series      (one sample a second)
 *             checks      (MySQL compared with the model)
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.report;
