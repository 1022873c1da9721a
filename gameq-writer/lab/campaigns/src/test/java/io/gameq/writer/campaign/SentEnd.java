package io.gameq.writer.campaign;

import io.gameq.servers.MySqlServer;
import java.sql.SQLException;
import java.util.Map;
import java.util.Set;

/**
 * What MySQL says of rows that were sent; immutable.
 *
 * @param rows every row of the game's tables
 * @param epochs of each owner's newest session
 * @param setAside rows that are dead letters
 * @param keysInUse those of them that were sent under a key that was in use
 */
public record SentEnd(
    Map<String, Held> rows, Map<String, Long> epochs, Set<String> setAside, Set<String> keysInUse) {
  public static SentEnd of(MySqlServer mysql) throws SQLException {
    return new SentEnd(
        FinalState.rows(mysql),
        FinalState.epochs(mysql),
        FinalState.setAside(mysql),
        FinalState.keysInUse(mysql));
  }
}
