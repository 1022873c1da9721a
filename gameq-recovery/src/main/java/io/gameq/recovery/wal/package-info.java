/**
 * WAL directories as the engineer gave them, read one after the other.
 *
 * <pre>
 * arguments -&gt; WalSet.open: directories -&gt; WalFolder (header, damage) -&gt; every record,
 *   any number of times
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.recovery.wal;
