/** What is on its way to MySQL. */
@org.jspecify.annotations.NullMarked
package io.gameq.durability;
