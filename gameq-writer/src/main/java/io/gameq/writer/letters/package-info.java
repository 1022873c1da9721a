/**
 * What an operator does with dead letters, for command line and console alike: it returns values
 * and prints nothing. The SQL is in {@link io.gameq.writer.mysql}.
 *
 * <pre>
 * AuditedLetters     list, show, edit, retry, discard, export; in the audit log before it is done
 *   LetterFilter       which letters: by owner, table, error, time, state, ids
 *     ChosenLetters      those that it lets through
 *   LetterPage         some of them in a list: each ListedLetter, by its LetterName
 *   LetterDetail       one in full, beside what MySQL holds; values only where asked for
 *   EditOutcome        what became of an edit
 *   RetryText          what became of a retry
 *   RetryRounds        again those that another one may make fit
 *   ExportedLetter     one as a JSON object
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.letters;
