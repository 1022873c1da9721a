package io.gameq.writer.mysql;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.owner.OwnerId;
import io.gameq.owner.OwnerId.PercentEncoding;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds owners in {@code gameq_owner} by how their ids begin. Stateless. */
public final class OwnerSearch {
  /** Behind every character that an encoded id may have. */
  private static final char LAST = '\u007f';

  /** Some milliseconds; who has more writes more of the id. */
  private static final int MOST_ORDERED = 5_000;

  /** Of ids: {@code player:9} before {@code player:10}. */
  public static final Comparator<String> BY_NUMBERS = OwnerSearch::compare;

  private static final Pattern PARTS = Pattern.compile("[0-9]+|[^0-9]+");

  private OwnerSearch() {}

  /**
   * An owner that was opened at some time.
   *
   * @param node that opened it last
   * @param openedAt when
   */
  public record OwnerMatch(OwnerId owner, String node, Instant openedAt) {}

  /**
   * Those whose ids begin so; the index finds them. Numbers in ids are ordered as numbers, among
   * the first {@value #MOST_ORDERED} that the index has.
   *
   * @param beginning of an id, as the game writes it: {@code player:4}
   * @param most owners to find
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static List<OwnerMatch> beginningWith(MySql mysql, String beginning, int most) {
    String from = PercentEncoding.percent(beginning);
    List<OwnerMatch> all = new ArrayList<>(first(mysql, from, Math.max(most, MOST_ORDERED)));
    all.sort(Comparator.comparing(found -> found.owner().id(), BY_NUMBERS));
    return List.copyOf(all.subList(0, Math.min(most, all.size())));
  }

  private static int compare(String one, String other) {
    Matcher parts = PARTS.matcher(one);
    Matcher otherParts = PARTS.matcher(other);
    while (parts.find() && otherParts.find()) {
      String part = parts.group();
      String otherPart = otherParts.group();
      int way =
          isNumber(part) && isNumber(otherPart)
              ? new BigInteger(part).compareTo(new BigInteger(otherPart))
              : part.compareTo(otherPart);
      if (way != 0) {
        return way;
      }
    }
    return one.compareTo(other);
  }

  private static boolean isNumber(String part) {
    return part.charAt(0) >= '0' && part.charAt(0) <= '9';
  }

  private static List<OwnerMatch> first(MySql mysql, String from, int most) {
    return mysql.list(
        "SELECT owner, node, opened_at FROM gameq_owner WHERE owner >= ? AND owner < ? ORDER BY"
            + " owner LIMIT ?",
        rs ->
            new OwnerMatch(OwnerId.ofEncoded(rs.getString(1)), rs.getString(2), Sql.instant(rs, 3)),
        from,
        from + LAST,
        most);
  }
}
