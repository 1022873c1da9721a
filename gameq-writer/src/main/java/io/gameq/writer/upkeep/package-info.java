/**
 * What a writer looks after beside its flushes, each duty on its interval.
 *
 * <pre>
 * WriterUpkeep      hourly: TombstonePurge, journal marks of nodes that are gone
 *                   every 3 s: whether Redis may evict
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.upkeep;
