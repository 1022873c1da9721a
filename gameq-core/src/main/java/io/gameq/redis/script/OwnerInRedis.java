package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where one owner is on his way through Redis. Immutable.
 *
 * @param nowMillis Redis TIME when it was looked at, ms since 1970
 * @param ownedBy the session that may write as far as Redis knows
 * @param expiresMillis ms until Redis forgets that session, which was closed; -1 never
 * @param closing closed while rows waited
 * @param healing rows may be missing until its node has put them back
 * @param claim who has claimed, or had
 * @param leaseEndsMillis by Redis TIME; {@link #NONE} when there is no lease
 * @param claimed the rows of the claim; null when there are none
 * @param sessions those that have dirty rows, or that somebody knows of; the oldest first
 * @param foreign keys that hold somebody else's values
 * @param inboxes in which rows wait that were sent to the owner
 */
public record OwnerInRedis(
    long nowMillis,
    @Nullable SessionId ownedBy,
    long expiresMillis,
    boolean closing,
    boolean healing,
    @Nullable ClaimRecord claim,
    long leaseEndsMillis,
    @Nullable TracedRows claimed,
    List<InSession> sessions,
    List<String> foreign,
    Map<OwnerId, OwnerInRedis> inboxes) {
  /** No time. Who is urgent is due at 0, or before. */
  public static final long NONE = Long.MIN_VALUE;

  public OwnerInRedis {
    sessions = List.copyOf(sessions);
    foreign = List.copyOf(foreign);
    inboxes = Collections.unmodifiableMap(new LinkedHashMap<>(inboxes));
  }

  /**
   * Who has claimed an owner.
   *
   * @param token {@code -} when nobody has now: then this is what is remembered of earlier claims
   * @param attempts claims since the last ack, but for outages
   * @param lapses of these, those whose lease ran out
   * @param refusedSinceMillis when MySQL first refused a row, ms since 1970; 0 if it never did
   */
  public record ClaimRecord(
      String token,
      SessionId session,
      int attempts,
      int lapses,
      long refusedSinceMillis,
      String writer) {
    private static final int FIELDS = 6;

    /** Reads {@code token session attempts lapses since writer}; null when it is damaged. */
    static @Nullable ClaimRecord parse(String text) {
      String[] of = text.split(" ", -1);
      try {
        return of.length != FIELDS
            ? null
            : new ClaimRecord(
                of[0],
                SessionId.parse(of[1]),
                Integer.parseInt(of[2]),
                Integer.parseInt(of[3]),
                Long.parseLong(of[4]),
                of[5]);
      } catch (RuntimeException e) {
        return null;
      }
    }

    /** Whether somebody has claimed now. */
    public boolean isHeld() {
      return !token.equals("-");
    }
  }

  /**
   * What waits under one session.
   *
   * @param dirty null when nothing does
   * @param dueMillis by Redis TIME; {@link #NONE} when it has no time
   * @param ready among those that are claimed next
   * @param stale among those that lost ownership
   */
  public record InSession(
      SessionId session, @Nullable TracedRows dirty, long dueMillis, boolean ready, boolean stale) {
    /** Whether it will be looked at by a claim. */
    public boolean isAwaited() {
      return dueMillis != NONE || ready;
    }
  }

  /**
   * Rows of one hash.
   *
   * @param bytes of keys and images
   * @param oldestVersion 0 when none could be read
   * @param tables how many of each; those with damaged keys under {@code ?}
   * @param isCut whether there are more rows than were looked at
   */
  public record TracedRows(
      long rows,
      long bytes,
      long oldestVersion,
      long newestVersion,
      Map<String, Long> tables,
      boolean isCut) {
    public TracedRows {
      tables = Map.copyOf(tables);
    }
  }

  /** Whether a writer has claimed the owner now. */
  public boolean isClaimed() {
    return claim != null && claim.isHeld();
  }

  /** What waits under the session that owns, if anything is known of it. */
  public Optional<InSession> owned() {
    return sessions.stream().filter(of -> of.session().equals(ownedBy)).findFirst();
  }

  /** This, and each of the inboxes. */
  public Stream<OwnerInRedis> withInboxes() {
    return Stream.concat(Stream.of(this), inboxes.values().stream());
  }

  /** Whether Redis knows anything of the owner. */
  public boolean isKnown() {
    return ownedBy != null
        || claim != null
        || claimed != null
        || leaseEndsMillis != NONE
        || closing
        || healing
        || !foreign.isEmpty()
        || !inboxes.isEmpty()
        || sessions.stream().anyMatch(of -> of.dirty() != null || of.isAwaited() || of.stale());
  }
}
