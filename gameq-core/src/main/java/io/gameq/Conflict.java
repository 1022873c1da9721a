package io.gameq;

import java.util.SortedMap;

/**
 * Acknowledged changes of one session that Redis lost and that nobody holds any more, neither Redis
 * nor MySQL: they were not replayed, because a newer session owns. Immutable.
 *
 * <p>The WAL of this node still has them: {@code gameq-recovery plan} shows their values.
 *
 * @param owner the owner's id as the game wrote it
 * @param session the session that committed them
 * @param rows row keys ({@code table:primary key}) and the versions that are lost
 */
public record Conflict(String owner, String session, SortedMap<String, Long> rows) {}
