/**
 * How command lines show things: tables, values as text, errors in one line. For gameq-writer and
 * gameq-recovery, which do not know each other. Internal.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.terminal;
