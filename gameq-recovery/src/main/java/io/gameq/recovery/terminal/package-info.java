/** How values, times and progress look on a terminal. */
@org.jspecify.annotations.NullMarked
package io.gameq.recovery.terminal;
