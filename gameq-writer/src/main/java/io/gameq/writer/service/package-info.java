/**
 * The running service, from its start until it is told to stop.
 *
 * <pre>
 * RunCommand         waits for the servers (Startup), then for SIGTERM
 *   WriterService    starts and stops the agents: the watch over the term, the renewal of leases,
 *                    the slow lane, the workers; and the upkeep
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.service;
