/** Owners and sessions by name. */
@org.jspecify.annotations.NullMarked
package io.gameq.owner;
