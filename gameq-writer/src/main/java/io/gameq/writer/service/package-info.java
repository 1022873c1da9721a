/**
 * The running service: {@code RunCommand} waits for the servers ({@code Startup}), then has a
 * {@code WriterService} run the workers, the slow lane, the renewal of leases, the watch over the
 * term and the upkeep until it is told to stop.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.service;
