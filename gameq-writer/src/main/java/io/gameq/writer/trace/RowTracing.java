package io.gameq.writer.trace;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.mysql.tables.HandoverTable;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.owner.DurableSessions.PercentEncoding;
import io.gameq.owner.DurableSessions.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.Slots;
import io.gameq.redis.script.LookupScript;
import io.gameq.rows.HandledRow.EncodedRow;
import io.gameq.rows.HandledRow.RowKey;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table.Column;
import io.gameq.terminal.Shown;
import io.gameq.writer.mysql.RowInMySql;
import io.gameq.writer.mysql.RowInMySql.SetAside;
import io.gameq.writer.mysql.RowReading;
import io.gameq.writer.mysql.RowReading.Decoded;
import io.gameq.writer.mysql.RowReading.Undecodable;
import io.gameq.writer.redis.OwnerInRedis;
import io.gameq.writer.redis.OwnerInRedis.InSession;
import io.gameq.writer.trace.RowTracing.RowPlace.Where;
import io.gameq.writer.trace.WhatNext.OwnerTrace;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Asks both servers where the versions of a row are. One thread. */
public final class RowTracing {
  private final Tracing owners;
  private final Slots slots;
  private final ControlConnection redis;
  private final MySql mysql;
  private final RowReading rows;

  /** With connections that others close; reads the catalogue. */
  public RowTracing(Tracing owners, Slots slots, ControlConnection redis, MySql mysql) {
    this.owners = owners;
    this.slots = slots;
    this.redis = redis;
    this.mysql = mysql;
    this.rows = new RowReading(mysql);
  }

  /**
   * Looks at a row.
   *
   * @param keyText its primary key as row keys have it: parts with commas between them, each
   *     percent-encoded
   * @param more owners in whose changes it is looked for, besides those that are found
   * @param inWals what logs hold of it
   * @throws io.gameq.MySqlException when MySQL does not answer
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public RowTrace row(
      String table, String keyText, Collection<OwnerId> more, Collection<WalSearch.Found> inWals) {
    String rowKey = rowKey(table, keyText);
    RowKey key = rows.key(rowKey);
    RowInMySql inMySql = RowInMySql.read(mysql, rows, table, keyText, key);
    Set<OwnerId> all = new LinkedHashSet<>(inMySql.owners());
    all.addAll(more);
    List<RowPlace> places = new ArrayList<>();
    for (WalSearch.Found of : inWals) {
      all.add(of.owner().base());
      String by = Shown.by(of.owner(), of.session());
      places.add(place(Where.WAL, of.owner().base(), by, of.row(), of.note()));
    }
    List<OwnerTrace> traces = new ArrayList<>();
    for (OwnerId owner : all) {
      OwnerTrace trace = owners.owner(owner);
      traces.add(trace);
      if (trace.redis() != null) {
        addRedis(places, trace.redis(), owner, rowKey);
        trace.redis().inboxes().forEach((inbox, of) -> addRedis(places, of, inbox, rowKey));
      }
    }
    addMySql(places, inMySql, rowKey);
    return new RowTrace(rowKey, key != null, places, traces);
  }

  /** How row keys write it. */
  public static String rowKey(String table, String keyText) {
    return PercentEncoding.percent(table) + ":" + keyText;
  }

  private void addRedis(List<RowPlace> to, OwnerInRedis seen, OwnerId from, String rowKey) {
    OwnerId owner = from.base();
    List<SessionId> sessions = seen.sessions().stream().map(InSession::session).toList();
    LookupScript.Question question = new LookupScript.Question(from, sessions, List.of(rowKey));
    LookupScript.Found found =
        redis.ask(of -> LookupScript.ask(of, slots.of(owner), question)).fields().get(0);
    if (found.claimed().length > 0) {
      String session = seen.claim() == null ? "" : Shown.by(from, seen.claim().session());
      to.add(place(Where.CLAIMED, owner, session, new EncodedRow(rowKey, found.claimed()), ""));
    }
    for (int i = sessions.size() - 1; i >= 0; i--) {
      byte[] image = found.dirty().get(i);
      if (image.length > 0) {
        InSession of = seen.sessions().get(i);
        to.add(
            place(
                of.stale() ? Where.STALE : Where.DIRTY,
                owner,
                Shown.by(from, of.session()),
                new EncodedRow(rowKey, image),
                ""));
      }
    }
  }

  private void addMySql(List<RowPlace> to, RowInMySql found, String rowKey) {
    RowImage row = found.row();
    if (row != null) {
      OwnerId owner = row.table().ownerOf(row.values());
      to.add(new RowPlace(Where.MYSQL, owner, "", row.version(), RowOp.PUT, row, ""));
    }
    RowInMySql.Deleted deleted = found.deleted();
    if (deleted != null) {
      to.add(
          new RowPlace(
              Where.TOMBSTONE, deleted.owner(), "", deleted.version(), RowOp.DELETE, null, ""));
    }
    for (SetAside letter : found.letters()) {
      to.add(
          place(
              Where.DEAD_LETTER,
              letter.owner(),
              Long.toString(letter.id()),
              new EncodedRow(rowKey, letter.image()),
              "error " + letter.errorCode()));
    }
    for (Discard discard : found.discards()) {
      to.add(
          new RowPlace(
              Where.DISCARD,
              discard.owner(),
              discard.session(),
              discard.version(),
              null,
              null,
              "up to this version"));
    }
    for (HandoverTable.Known of : found.handovers()) {
      to.add(
          new RowPlace(
              Where.HANDOVER,
              of.owner(),
              of.session().text(),
              of.version(),
              RowOp.MOVED,
              null,
              of.received() ? "received" : "given away"));
    }
  }

  private RowPlace place(Where where, OwnerId owner, String session, EncodedRow row, String note) {
    RowReading.Reading reading = rows.read(row.key(), row.image());
    if (reading instanceof Decoded decoded) {
      RowImage image = decoded.image();
      return new RowPlace(where, owner, session, image.version(), image.op(), image, note);
    }
    String reason = "cannot be decoded: " + ((Undecodable) reading).reason();
    String all = note.isEmpty() ? reason : note + ", " + reason;
    return new RowPlace(where, owner, session, version(row), null, null, all);
  }

  private static long version(EncodedRow row) {
    try {
      return row.version();
    } catch (GameQueueException e) { // too damaged to tell
      return 0;
    }
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
      HANDOVER
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

    boolean isNewerThan(@Nullable RowPlace other) {
      return other == null || Long.compareUnsigned(version, other.version) > 0;
    }
  }
}
