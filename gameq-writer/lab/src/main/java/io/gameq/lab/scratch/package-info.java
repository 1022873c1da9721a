/**
 * What {@code demo} and {@code bench} fill themselves: servers, which they start or are given, and
 * a directory for WALs.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.scratch;
