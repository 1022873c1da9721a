package io.gameq.writer.trace;

import io.gameq.owner.OwnerId;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.terminal.Shown;
import io.gameq.writer.admin.StaleSessions.RowColumn;
import io.gameq.writer.trace.RowTrace.RowPlace.Where;
import io.gameq.writer.trace.WhatNext.Kind;
import io.gameq.writer.trace.WhatNext.OwnerTrace;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where the versions of one row are. Immutable.
 *
 * @param rowKey {@code table:primary key}
 * @param isManaged whether the table is, and the key fits it: else only Redis and gameq's own
 *     tables were asked
 * @param places newest first in each server
 * @param owners everybody who has, had or wanted it
 */
public record RowTrace(
    String rowKey, boolean isManaged, List<RowPlace> places, List<OwnerTrace> owners) {
  public RowTrace {
    places = List.copyOf(places);
    owners = List.copyOf(owners);
  }

  /** What will happen to the row next, in one sentence. */
  public WhatNext next() {
    for (OwnerTrace owner : owners) {
      if (owner.redis() == null || owner.mysql() == null) {
        return Kind.CANNOT_TELL.next(
            "%s does not answer: where the newest version is cannot be told.",
            owner.redis() == null ? "Redis" : "MySQL");
      }
    }
    RowPlace inMySql = newest(null, Where.MYSQL, Where.TOMBSTONE);
    RowPlace waits = newest(inMySql, Where.DIRTY, Where.CLAIMED);
    if (waits != null) {
      return waiting(waits);
    }
    RowPlace refused = newest(inMySql, Where.DEAD_LETTER);
    if (refused != null) {
      return Kind.DEAD_LETTERS.next(
          "MySQL refused version %s: mend the cause, then 'gameq-writer dead retry %s', or"
              + " 'gameq-writer dead discard %s'.",
          refused.versionText(), refused.session(), refused.session());
    }
    RowPlace stale = newest(inMySql, Where.STALE);
    if (stale != null) {
      return Kind.STALE.next(
          "version %s is of a session that had lost the owner: it is never flushed ('gameq-writer"
              + " stale show %s').",
          stale.versionText(), stale.owner().id());
    }
    return ofWal(inMySql);
  }

  private WhatNext waiting(RowPlace waits) {
    RowPlace discard = newest(null, Where.DISCARD);
    if (discard != null
        && discard.session().isEmpty()
        && discard.owner().equals(waits.owner())
        && !waits.isNewerThan(discard)) {
      return Kind.NOTHING.next(
          "version %s was given up by an operator: the next flush leaves it out.",
          waits.versionText());
    }
    return owners.stream()
        .filter(of -> of.owner().equals(waits.owner()))
        .findFirst()
        .map(WhatNext::of)
        .orElseThrow();
  }

  private WhatNext ofWal(@Nullable RowPlace inMySql) {
    RowPlace inWal = newest(inMySql, Where.WAL);
    RowPlace discard = newest(null, Where.DISCARD);
    if (inWal != null && inWal.isNewerThan(discard)) {
      return Kind.HEALING.next(
          "only the WAL has version %s: its node puts it back when it heals or starts again, or"
              + " gameq-recovery does.",
          inWal.versionText());
    }
    if (inMySql != null) {
      return inMySql.where() == Where.MYSQL
          ? Kind.NOTHING.next("nothing: the newest version is in MySQL.")
          : Kind.NOTHING.next("nothing: the row was deleted, and nothing older brings it back.");
    }
    if (discard != null) {
      return Kind.NOTHING.next("nothing: an operator gave its changes up.");
    }
    return owners.isEmpty()
        ? Kind.NOT_KNOWN.next(
            "nobody knows this row, nor whose it would be: name its owner with --owner to look into"
                + " Redis.")
        : Kind.NOT_KNOWN.next("nobody knows this row.");
  }

  /** The newest of those in some places; null when none is newer than another one. */
  private @Nullable RowPlace newest(@Nullable RowPlace than, Where... where) {
    Set<Where> wanted = Set.of(where);
    RowPlace newest = null;
    for (RowPlace place : places) {
      if (wanted.contains(place.where()) && place.isNewerThan(newest)) {
        newest = place;
      }
    }
    return newest != null && newest.isNewerThan(than) ? newest : null;
  }

  /**
   * One version of a row, in one place. Immutable.
   *
   * @param owner who changed it
   * @param session whose change it is, or who sent it, or the dead letter's number; empty where
   *     none is known
   * @param version unsigned; 0 when it is too damaged to tell
   * @param op null where no row is, as of a discard
   * @param image null where no row is, or it cannot be read
   * @param note what else is to be said, such as why it cannot be read; never a value
   */
  public record RowPlace(
      Where where,
      OwnerId owner,
      String session,
      long version,
      @Nullable RowOp op,
      @Nullable RowImage image,
      String note) {
    /** The places in which a version of a row may be, on its way. */
    public enum Where {
      /** In a node's log: the game committed it. */
      WAL,
      /** In Redis, to be flushed. */
      DIRTY,
      /** In Redis, taken by a writer. */
      CLAIMED,
      /** In Redis, of a session that lost its owner: never flushed. */
      STALE,
      /** In the table. */
      MYSQL,
      /** Deleted in this version. */
      TOMBSTONE,
      /** Refused by MySQL. */
      DEAD_LETTER,
      /** Given up by an operator up to this version. */
      DISCARD,
      /** Moved between owners in this version, one half is still to come. */
      HANDOVER;

      /** As it is shown: {@code dead letter}. */
      public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
      }
    }

    /**
     * The values of its columns as a terminal may show them: the key alone of a delete, and none
     * that it leaves as they are. Empty where no row is.
     */
    public Map<String, String> columns() {
      Map<String, String> columns = new LinkedHashMap<>();
      if (image != null) {
        RowColumn.set(image).forEach((name, value) -> columns.put(name, Shown.value(value)));
      }
      return columns;
    }

    /** In lower case; empty where no row is. */
    public String opName() {
      return op == null ? "" : op.name().toLowerCase(Locale.ROOT);
    }

    /** Unsigned. */
    public String versionText() {
      return Long.toUnsignedString(version);
    }

    boolean isNewerThan(@Nullable RowPlace other) {
      return other == null || Long.compareUnsigned(version, other.version) > 0;
    }
  }
}
