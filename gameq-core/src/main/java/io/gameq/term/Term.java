package io.gameq.term;

import io.gameq.RedisUnavailableException;
import java.util.List;
import java.util.stream.Stream;

/**
 * The primary that counts, and its number.
 *
 * @param number 0 when none has counted yet
 * @param address those under which it was reached, the one noted last first, separated by spaces
 * @param formers the primaries before it, the last one first, separated by spaces: each by the
 *     beginnings of its run id and of its replication id, with a colon between
 * @param silentMillis since its last sign of life, by MySQL's clock
 */
public record Term(
    long number,
    String runId,
    String replId,
    String address,
    long sentinelEpoch,
    String formers,
    long silentMillis) {
  /** Before any primary has counted. */
  public static final Term NONE = new Term(0, "", "", "", Primary.NO_SENTINEL, "", 0);

  /** The number of whoever cannot tell primaries apart: nothing is compared. */
  public static final long NOT_KNOWN = -1;

  /** Whether rows or sessions that came by way of a term's primary may still be written. */
  public static boolean counts(long ofConnection, long current) {
    return ofConnection == NOT_KNOWN || ofConnection == current;
  }

  private boolean isBySentinel() {
    return sentinelEpoch != Primary.NO_SENTINEL;
  }

  /** The addresses under which the primary was reached. */
  public List<String> addresses() {
    return List.of(address.split(" ", -1));
  }

  boolean wasReachedAt(String another) {
    return addresses().contains(another);
  }

  /** What is to be noted when the primary was reached at an address. */
  public String addressesWith(String another) {
    StringBuilder all = new StringBuilder(another);
    for (String one : addresses()) {
      if (!one.equals(another) && all.length() + 1 + one.length() <= MOST_ADDRESS_CHARS) {
        all.append(' ').append(one);
      }
    }
    return all.toString();
  }

  /** What a primary is to this term. */
  enum Relation {
    SAME,
    NEWER,
    OLDER
  }

  /** Of the columns. */
  private static final int MOST_ADDRESS_CHARS = 255;

  private static final int MOST_FORMER_CHARS = 64;

  /** Ids are random hex digits: as many tell some from each other. */
  private static final int ID_CHARS = 8;

  /**
   * What a primary is to this term, which was read before it was connected to: so whoever answers
   * at one of the term's own addresses was started after the term's primary. One of which nothing
   * is known is older, however long the term's primary has been silent: it may hold what nobody has
   * written yet, and an address may be wrong. Then a person decides.
   */
  Relation relation(Primary seen) {
    if (number > 0 && runId.equals(seen.runId())) {
      return Relation.SAME;
    }
    return number == 0 || tookOver(seen) ? Relation.NEWER : Relation.OLDER;
  }

  /**
   * Refuses a primary that does not count, and cannot take over either.
   *
   * @throws TermMovedException with the remedy
   */
  public void refuseDemoted(Primary seen) {
    if (seen.isKnown() && relation(seen) == Relation.OLDER) {
      throw demoted(seen);
    }
  }

  TermMovedException demoted(Primary seen) {
    return new TermMovedException(
        ("Redis at %s does not count: the one at %s does, as number %s, and gave its last sign of"
             + " life %s s ago. Correct the address, or, where this one is to take its place, run"
             + " 'gameq-writer term set' with it")
            .formatted(
                seen.address(), String.join(" or ", addresses()), number, silentMillis / 1_000));
  }

  /** Whether there is proof. */
  private boolean tookOver(Primary seen) {
    if (!replId.isEmpty() && replId.equals(seen.formerReplId())) {
      return true;
    }
    if (isBySentinel() && seen.isBySentinel()) {
      return seen.sentinelEpoch() > sentinelEpoch
          || (seen.sentinelEpoch() == sentinelEpoch && wasReachedAt(seen.address()));
    }
    return !isBySentinel() && !isFormer(seen) && wasReachedAt(seen.address());
  }

  /**
   * One that counted before proves nothing by an address, since a name may still lead to it: but
   * where it was promoted since, from whom nobody saw.
   */
  private boolean isFormer(Primary seen) {
    return Stream.of(formers.split(" ", -1))
        .map(former -> former.split(":", 2))
        .filter(former -> beginning(former[0]).equals(beginning(seen.runId())))
        .anyMatch(
            former ->
                former.length < 2 // of a build that noted no more
                    || former[1].equals(beginning(seen.replId()))
                    || !seen.wentOnFromAnother());
  }

  /** What is to be noted of the primaries before it when another takes over. */
  public String formersWithThis() {
    String all = (beginning(runId) + ":" + beginning(replId) + " " + formers).strip();
    return all.length() <= MOST_FORMER_CHARS
        ? all
        : all.substring(0, all.lastIndexOf(' ', MOST_FORMER_CHARS));
  }

  private static String beginning(String id) {
    return id.substring(0, Math.min(ID_CHARS, id.length()));
  }

  /** What went by way of a primary that does not count any more; nothing was written. */
  public static final class TermMovedException extends RedisUnavailableException {
    private static final long serialVersionUID = 1L;

    public TermMovedException(String message) {
      super(message);
    }
  }

  /**
   * A Redis primary, as one connection sees it.
   *
   * @param runId new at every start of the process; empty when the server does not tell
   * @param replId names its history of writes: new when it is promoted, and now and then otherwise
   * @param formerReplId the history that it went on from; another primary's when it was promoted
   * @param address under which it was reached
   * @param sentinelEpoch Sentinel's config-epoch, which rises with every failover; {@link
   *     #NO_SENTINEL} without Sentinel
   */
  public record Primary(
      String runId, String replId, String formerReplId, String address, long sentinelEpoch) {
    public static final long NO_SENTINEL = -1;

    /** Whether it can be told from other primaries; some proxies and hosted servers hide that. */
    public boolean isKnown() {
      return !runId.isEmpty();
    }

    /**
     * Whether its history goes on from another one's: Redis clears what tells of that when it calls
     * its history anew by itself, as after an hour without a replica.
     */
    boolean wentOnFromAnother() {
      return !formerReplId.matches("0*");
    }

    boolean isBySentinel() {
      return sentinelEpoch != NO_SENTINEL;
    }
  }
}
