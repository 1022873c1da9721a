/**
 * What waits and who runs, for operators: {@code gameq-writer status}, {@code slots}, {@code nodes}
 * and {@code writers}, the console's pages of the same, and meters.
 *
 * <pre>
 * StatusSnapshot   what the servers said, and what is to be done
 * Processes        nodes and writers, by what they say of themselves; one look for all writers
 * WriterSigns      tells Redis how this writer is
 * BacklogWatch, ProcessWatch   the latest look, as meters
 * StatusCommands   status, slots, nodes, writers
 * FlushCommand     flush: has what waits written now, waits for it, tells why it is not
 * </pre>
 *
 * <p>What counts for a flush is a row's version: rows committed until a second after it was asked
 * for. So it ends in a game that goes on.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.status;
