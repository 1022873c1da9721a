/**
 * What waits and who runs, for operators: {@code gameq-writer status}, {@code slots}, {@code nodes}
 * and {@code writers}, the console's pages of the same, and meters.
 *
 * <pre>
 * StatusLook       what the servers said, and what is to be done
 * Processes        nodes and writers, by what they say of themselves; one look for all writers
 * WriterSigns      tells Redis how this writer is
 * BacklogWatch, ProcessWatch   the latest look, as meters
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.status;
