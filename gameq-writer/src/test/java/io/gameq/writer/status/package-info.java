/** Tests of single steps of a turn. */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.status;
