/** What a node puts back after Redis lost it. */
@org.jspecify.annotations.NullMarked
package io.gameq.healing;
