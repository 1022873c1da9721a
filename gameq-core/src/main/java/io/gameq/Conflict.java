package io.gameq;

import io.gameq.config.GameQueueConfigBuilder;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Acknowledged changes of one session that Redis lost and that are not replayed: because a newer
 * session owns, because they are half a trade whose other half is lost, or because the WAL is
 * damaged. Immutable.
 *
 * <p>It is reported only after Redis, MySQL, its tombstones and dead letters were looked into, and
 * once the node that may have taken the rows over has put back what it had: then nobody holds them
 * any more, and nobody will. Until then {@code durable()} of their commits stays open.
 *
 * <p>The WAL of this node has them for as long as {@link GameQueueConfigBuilder#walKeep} says, and
 * longer when the node ends before that: {@code gameq-recovery plan} shows their values.
 *
 * @param owner the owner's id as the game wrote it
 * @param session the session that committed them
 * @param reason why they are not replayed
 * @param mayComeBack whether they are not lost for certain: the node that may have taken them over
 *     gave no answer for {@link GameQueueConfigBuilder#maxConflictWait}. They come back if it does,
 *     or if {@code gameq-recovery} replays its WAL: read the rows before you compensate anybody
 * @param rows row keys ({@code table:primary key}) and the versions that are lost
 */
public record Conflict(
    String owner,
    String session,
    String reason,
    boolean mayComeBack,
    SortedMap<String, Long> rows) {
  /** Copies the rows. */
  public Conflict {
    rows = Collections.unmodifiableSortedMap(new TreeMap<>(rows));
  }
}
