/**
 * What a measurement says in the end, of the benchmark and of the comparison alike.
 *
 * <pre>
 * parts ──▶ BenchResult ──▶ Report      a table on the terminal (compare has one of its own)
 *             Figures           │
 *               Figure          └─────▶ ResultJson  everything, with RunConditions: Machine,
 *             Series (one a second)                 and what both servers say of themselves
 *             checks (MySQL compared with the model)
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.report;
