/**
 * {@code gameq-writer dead list|show|retry|discard}: the rows that MySQL refused, what they print
 * and return. Their SQL is in {@link io.gameq.writer.mysql}.
 *
 * <pre>
 * DeadCommand            the parent of the four
 *   DeadListCommand      FilterOptions: which
 *   DeadShowCommand      one, beside what MySQL holds
 *   DeadRetryCommand     LetterSelection: which; RetryReport: what became of them
 *   DeadDiscardCommand   LetterSelection; LetterName: how lines name one
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.dead;
