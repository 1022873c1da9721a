/** A game node: start, open, read, close. */
@org.jspecify.annotations.NullMarked
package io.gameq.node;
