/** Hourly duties. */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.upkeep;
