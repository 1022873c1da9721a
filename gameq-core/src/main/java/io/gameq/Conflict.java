package io.gameq;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Acknowledged changes of one session that Redis lost and that nobody holds any more, neither Redis
 * nor MySQL, and that are not replayed: because a newer session owns, because they are half a trade
 * whose other half is lost, or because the WAL is damaged. Immutable.
 *
 * <p>The WAL of this node has them for as long as {@link GameQueueConfigBuilder#walKeep} says, and
 * longer when the node ends before that: {@code gameq-recovery plan} shows their values.
 *
 * @param owner the owner's id as the game wrote it
 * @param session the session that committed them
 * @param reason why they are not replayed
 * @param rows row keys ({@code table:primary key}) and the versions that are lost
 */
public record Conflict(String owner, String session, String reason, SortedMap<String, Long> rows) {
  public Conflict {
    rows = Collections.unmodifiableSortedMap(new TreeMap<>(rows));
  }
}
