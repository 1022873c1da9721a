/**
 * What the commands that show and remove rows have in common: JSON lines, the question whether to
 * go on.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.terminal;
