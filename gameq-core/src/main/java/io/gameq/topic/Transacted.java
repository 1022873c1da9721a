package io.gameq.topic;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;

/**
 * What {@link GameQueue#transactReturning} returns. Immutable.
 *
 * @param value what the game's code returned
 * @param receipt of the commit
 */
public record Transacted<T>(T value, CommitReceipt receipt) {}
