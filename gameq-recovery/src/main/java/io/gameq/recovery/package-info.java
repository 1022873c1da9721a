/**
 * What the engineer on call runs over the WALs of nodes that are gone.
 *
 * <pre>
 * Main -&gt; InspectCommand: what is in a WAL
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.recovery;
