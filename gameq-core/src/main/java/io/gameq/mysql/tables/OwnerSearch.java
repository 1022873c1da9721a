package io.gameq.mysql.tables;

import io.gameq.mysql.MySql;
import io.gameq.mysql.Sql;
import io.gameq.owner.OwnerId;
import io.gameq.owner.PercentEncoding;
import java.time.Instant;
import java.util.List;

/** Finds owners in {@code gameq_owner} by how their ids begin. Stateless. */
public final class OwnerSearch {
  /** Behind every character that an encoded id may have. */
  private static final char LAST = '\u007f';

  private OwnerSearch() {}

  /**
   * An owner that was opened at some time.
   *
   * @param node that opened it last
   * @param openedAt when
   */
  public record Found(OwnerId owner, String node, Instant openedAt) {}

  /**
   * Those whose ids begin so, in the order of their encoded ids; the index finds them.
   *
   * @param beginning of an id, as the game writes it: {@code player:4}
   * @param most owners to find
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static List<Found> beginningWith(MySql mysql, String beginning, int most) {
    String from = PercentEncoding.percent(beginning);
    return mysql.ask(
        handle ->
            handle
                .select(
                    "SELECT owner, node, opened_at FROM gameq_owner WHERE owner >= ?"
                        + " AND owner < ? ORDER BY owner LIMIT ?",
                    from,
                    from + LAST,
                    most)
                .map(
                    (rs, context) ->
                        new Found(
                            OwnerId.ofEncoded(rs.getString(1)),
                            rs.getString(2),
                            Sql.instant(rs, 3)))
                .list());
  }
}
