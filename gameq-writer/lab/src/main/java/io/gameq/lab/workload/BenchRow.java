package io.gameq.lab.workload;

/**
 * A row of table {@code bench_row}.
 *
 * @param seq the number of the action, of the player's thread, that wrote it
 * @param payload follows from the other three
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
public record BenchRow(long playerId, int slot, long seq, byte[] payload) {}
