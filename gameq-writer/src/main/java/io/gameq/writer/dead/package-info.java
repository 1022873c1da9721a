/**
 * {@code gameq-writer dead list|show|retry|discard}: the rows that MySQL refused, what they print
 * and return. Their SQL is in {@code io.gameq.writer.mysql}.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.dead;
