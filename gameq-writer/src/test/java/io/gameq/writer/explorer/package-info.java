/** The explorer. */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.explorer;
