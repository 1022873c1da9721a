/**
 * The processes of a game, as they say of themselves in Redis: {@code gameq-writer nodes} and
 * {@code gameq-writer writers}.
 *
 * <pre>
 * WriterSigns       says how this writer is, every few seconds: WriterSign
 *   RowRate         rows a second since it said so before
 *
 * Processes         one look at all of them
 *   ListedNode     a node, its State, and what is to be done about it
 *   ListedWriter   the same of a writer
 * SharedProcesses   one look at all of them for all writers
 * ProcessWatch      looks every few seconds, and shows the latest look as meters
 *   FleetWork       what all of them did together: MergeRatio, the console's rates
 *   MergeRatio      rows committed for each row written
 *
 * NodesCommand      prints the nodes by NodesPage; WritersCommand the writers by WritersPage
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.process;
