package io.gameq.writer.trace;

import io.gameq.owner.OwnerId;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table.Column;
import io.gameq.terminal.Shown;
import io.gameq.writer.trace.RowTrace.RowPlace.Where;
import io.gameq.writer.trace.WhatNext.Kind;
import io.gameq.writer.trace.WhatNext.OwnerTrace;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
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
        return new WhatNext(
            Kind.CANNOT_TELL,
            (owner.redis() == null ? "Redis" : "MySQL")
                + " does not answer: where the newest version is cannot be told.");
      }
    }
    RowPlace inMySql = newest(Where.MYSQL, Where.TOMBSTONE);
    RowPlace waits = newest(Where.DIRTY, Where.CLAIMED);
    if (waits != null && waits.isNewerThan(inMySql)) {
      return waiting(waits);
    }
    RowPlace refused = newest(Where.DEAD_LETTER);
    if (refused != null && refused.isNewerThan(inMySql)) {
      return new WhatNext(
          Kind.DEAD_LETTERS,
          ("MySQL refused version %s: mend the cause, then 'gameq-writer dead retry %s', or"
                      + " 'gameq-writer")
                  .formatted(Long.toUnsignedString(refused.version()), refused.session())
              + " dead discard %s'.".formatted(refused.session()));
    }
    RowPlace stale = newest(Where.STALE);
    if (stale != null && stale.isNewerThan(inMySql)) {
      return new WhatNext(
          Kind.STALE,
          ("version %s is of a session that had lost the owner: it is never flushed"
                      + " ('gameq-writer")
                  .formatted(Long.toUnsignedString(stale.version()))
              + " stale show %s').".formatted(Shown.text(stale.owner().id())));
    }
    return ofWal(inMySql);
  }

  private WhatNext waiting(RowPlace waits) {
    RowPlace discard = newest(Where.DISCARD);
    if (discard != null
        && discard.session().isEmpty()
        && discard.owner().equals(waits.owner())
        && !waits.isNewerThan(discard)) {
      return new WhatNext(
          Kind.NOTHING,
          "version %s was given up by an operator: the next flush leaves it out."
              .formatted(Long.toUnsignedString(waits.version())));
    }
    return owners.stream()
        .filter(of -> of.owner().equals(waits.owner()))
        .findFirst()
        .map(WhatNext::of)
        .orElseThrow();
  }

  private WhatNext ofWal(@Nullable RowPlace inMySql) {
    RowPlace inWal = newest(Where.WAL);
    RowPlace discard = newest(Where.DISCARD);
    if (inWal != null
        && inWal.isNewerThan(inMySql)
        && (discard == null || inWal.isNewerThan(discard))) {
      return new WhatNext(
          Kind.HEALING,
          ("only the WAL has version %s: its node puts it back when it heals or starts"
                      + " again, or")
                  .formatted(Long.toUnsignedString(inWal.version()))
              + " gameq-recovery does.");
    }
    if (inMySql != null) {
      return new WhatNext(
          Kind.NOTHING,
          inMySql.where() == Where.MYSQL
              ? "nothing: the newest version is in MySQL."
              : "nothing: the row was deleted, and nothing older brings it back.");
    }
    return discard != null
        ? new WhatNext(Kind.NOTHING, "nothing: an operator gave its changes up.")
        : new WhatNext(
            Kind.NOT_KNOWN,
            "nobody knows this row"
                + (owners.isEmpty()
                    ? ", nor whose it would be: name its owner with --owner to look into Redis."
                    : "."));
  }

  private @Nullable RowPlace newest(Where... where) {
    Set<Where> wanted = Set.of(where);
    RowPlace newest = null;
    for (RowPlace place : (Iterable<RowPlace>) in(wanted)::iterator) {
      newest = place.isNewerThan(newest) ? place : newest;
    }
    return newest;
  }

  private Stream<RowPlace> in(Set<Where> wanted) {
    return places.stream().filter(of -> wanted.contains(of.where()));
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
        boolean isDelete = image.op() == RowOp.DELETE;
        List<Column> all = isDelete ? image.table().keyColumns() : image.table().columns();
        for (int i = 0; i < all.size(); i++) {
          if (isDelete || image.names(i)) {
            columns.put(all.get(i).name(), Shown.value(image.values()[i]));
          }
        }
      }
      return columns;
    }

    /** In lower case; empty where no row is. */
    public String opName() {
      return op == null ? "" : op.name().toLowerCase(Locale.ROOT);
    }

    boolean isNewerThan(@Nullable RowPlace other) {
      return other == null || Long.compareUnsigned(version, other.version) > 0;
    }
  }
}
