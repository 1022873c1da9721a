/**
 * The running service, from its start until it is told to stop.
 *
 * <pre>
 * RunCommand         waits for the servers (Startup), then for SIGTERM
 *   LogOutput        how a running writer logs
 *   WriterService    starts and stops the agents: the watch over the term, the renewal of leases,
 *                    the slow lane, the workers
 *     StallWatch     nothing is written while rows wait: why?
 *     WriterUpkeep   old tombstones and owners, marks of nodes that are gone, whether Redis evicts
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.service;
