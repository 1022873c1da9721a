/**
 * Which Redis counts, as operators see and change it.
 *
 * <pre>
 * TermCommand   term show, term set
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.term;
