package io.gameq.topic;

import io.gameq.GameQueue;
import io.gameq.Row;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A row of an owner that MySQL refused: it was set aside with its error, and the rest of the owner
 * went on without it. A newer put or delete of the row is tried again; until one passes, MySQL
 * holds what it held before. Immutable.
 *
 * @param key the row's name, {@code table:primary key}, as in messages
 * @param version in which the row was refused
 * @param delete whether a delete was refused; then {@code row} is null
 * @param row what MySQL refused; null for a delete, and when it cannot be read any more
 * @param errorCode MySQL's error number; {@link #NOT_OWNER}, {@link #KEY_IN_USE}; 0 for another
 *     error of gameq's own
 * @param error MySQL's message
 * @param attempts how often the row was tried
 * @param refusedAt when it was refused last
 */
public record DeadLetter(
    String table,
    String key,
    long version,
    boolean delete,
    @Nullable Row row,
    int errorCode,
    String error,
    int attempts,
    Instant refusedAt) {
  /**
   * The error number of a row that another owner has: only a move by its owner makes it this one's.
   * Of a move the dead letter goes when the other owner's half is flushed after all.
   */
  public static final int NOT_OWNER = -1;

  /**
   * The error number of a row that was {@linkplain GameQueue#send sent} under a key that another
   * row has: never written over that one.
   */
  public static final int KEY_IN_USE = -2;

  /**
   * The error number of a row that a handler {@linkplain GameQueue#send sent} together with an
   * acknowledgement, when the rows of another handler of the message count.
   */
  public static final int HANDLED_TWICE = -3;
}
