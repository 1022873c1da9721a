@org.jspecify.annotations.NullMarked
package io.gameq.writer.bench.report;
