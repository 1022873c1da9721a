/** What commands have in common: how a command line is run, the question whether to go on. */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.terminal;
