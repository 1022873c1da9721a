/**
 * {@code gameq-writer dead list|show|edit|retry|discard|export}: the rows that MySQL refused, what
 * they print and return. What they do is in {@link io.gameq.writer.letters}.
 *
 * <pre>
 * DeadCommand            the parent of them
 *   LetterCommand          what they have in common
 *   DeadListCommand        FilterOptions: which
 *   DeadShowCommand        one, beside what MySQL holds
 *   DeadEditCommand        LetterSelection: which; ColumnOptions: the new values
 *   DeadRetryCommand       LetterSelection; RetryReport: what became of them
 *   DeadDiscardCommand     LetterSelection
 *   DeadExportCommand      LetterSelection
 *     LetterProgress         how far they are
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.dead;
