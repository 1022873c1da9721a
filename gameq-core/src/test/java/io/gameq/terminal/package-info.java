/** Tests of what command lines show. */
@org.jspecify.annotations.NullMarked
package io.gameq.terminal;
