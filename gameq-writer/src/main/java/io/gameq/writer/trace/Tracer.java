package io.gameq.writer.trace;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.mysql.tables.HandoverTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.NodeSigns;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.terminal.ErrorLine;
import io.gameq.terminal.Shown;
import io.gameq.writer.mysql.OwnerInMySql;
import io.gameq.writer.mysql.OwnerInMySql.Raised;
import io.gameq.writer.mysql.PauseTable;
import io.gameq.writer.mysql.PauseTable.Pause;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.mysql.RowInMySql;
import io.gameq.writer.mysql.RowInMySql.SetAside;
import io.gameq.writer.mysql.RowReading;
import io.gameq.writer.mysql.RowReading.Decoded;
import io.gameq.writer.mysql.RowReading.Undecodable;
import io.gameq.writer.redis.OwnerInRedis;
import io.gameq.writer.redis.OwnerInRedis.InSession;
import io.gameq.writer.trace.RowTrace.RowPlace;
import io.gameq.writer.trace.RowTrace.RowPlace.Where;
import io.gameq.writer.trace.WhatNext.OwnerTrace;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks both servers where an owner or a row is; of an owner, one that is away hides nothing of the
 * other. Thread-safe.
 */
public final class Tracer {
  private final String namespace;
  private final Slots slots;
  private final ControlConnection redis;
  private final Supplier<MySql> mysql;
  private final Supplier<Map<String, String>> parked;

  /**
   * With connections that others close.
   *
   * @param mysql throws {@link GameQueueException} where it cannot be reached
   * @param parked tables that take no rows now, and why; may ask Redis
   */
  public Tracer(
      String namespace,
      Slots slots,
      ControlConnection redis,
      Supplier<MySql> mysql,
      Supplier<Map<String, String>> parked) {
    this.namespace = namespace;
    this.slots = slots;
    this.redis = redis;
    this.mysql = mysql;
    this.parked = parked;
  }

  /** Looks at an owner. */
  public OwnerTrace owner(OwnerId owner) {
    SlotKeys slot = slots.of(owner);
    OwnerInMySql inMySql = null;
    List<Pause> pauses = List.of();
    String mysqlError = "";
    try {
      MySql database = mysql.get();
      inMySql = OwnerInMySql.read(database, owner);
      pauses =
          PauseTable.all(database).stream()
              .filter(
                  of ->
                      of.scope() == Scope.ALL
                          || of.scope() == Scope.TABLE
                          || (of.scope() == Scope.SLOT
                              && of.name().equals(Integer.toString(slot.slot()))))
              .toList();
    } catch (GameQueueException e) {
      inMySql = null;
      mysqlError = ErrorLine.of(e);
    }
    OwnerInRedis inRedis = null;
    String redisError = "";
    String aliveNode = null;
    Map<String, String> nowParked = Map.of();
    try {
      List<SessionId> known = sessions(inMySql);
      inRedis = redis.ask(of -> OwnerInRedis.look(of, slot, owner, known));
      SessionId holder = OwnerTrace.holder(inMySql, inRedis);
      nowParked = parked.get();
      aliveNode = holder == null ? null : aliveNode(holder);
    } catch (GameQueueException e) {
      redisError = ErrorLine.of(e);
    }
    return new OwnerTrace(
        owner, slot.slot(), inRedis, redisError, inMySql, mysqlError, aliveNode, pauses, nowParked);
  }

  private static List<SessionId> sessions(@Nullable OwnerInMySql of) {
    List<SessionId> sessions = new ArrayList<>();
    Raised raised = of == null ? null : of.raised();
    if (raised != null) {
      CountingSessions counting = raised.sessions();
      sessions.add(counting.newest());
      if (counting.before() != null) {
        sessions.add(counting.before());
      }
    }
    return sessions;
  }

  private @Nullable String aliveNode(SessionId session) {
    return redis.ask(of -> NodeSigns.aliveNode(of, namespace, NodeSigns.process(session)));
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
    MySql database = mysql.get();
    RowReading rows = new RowReading(database);
    RowKey key = rows.key(rowKey);
    RowInMySql inMySql = RowInMySql.read(database, rows, table, keyText, key);
    Set<OwnerId> all = new LinkedHashSet<>(inMySql.owners());
    all.addAll(more);
    List<RowPlace> places = new ArrayList<>();
    for (WalSearch.Found of : inWals) {
      all.add(of.owner().base());
      String by = Shown.by(of.owner(), of.session());
      places.add(place(rows, Where.WAL, of.owner().base(), by, of.row(), of.note()));
    }
    List<OwnerTrace> traces = new ArrayList<>();
    for (OwnerId owner : all) {
      OwnerTrace trace = owner(owner);
      traces.add(trace);
      if (trace.redis() != null) {
        addRedis(rows, places, trace.redis(), owner, rowKey);
        trace.redis().inboxes().forEach((inbox, of) -> addRedis(rows, places, of, inbox, rowKey));
      }
    }
    addMySql(rows, places, inMySql, rowKey);
    return new RowTrace(rowKey, key != null, places, traces);
  }

  /** How row keys write it. */
  public static String rowKey(String table, String keyText) {
    return PercentEncoding.percent(table) + ":" + keyText;
  }

  private void addRedis(
      RowReading rows, List<RowPlace> to, OwnerInRedis seen, OwnerId from, String rowKey) {
    OwnerId owner = from.base();
    List<SessionId> sessions = seen.sessions().stream().map(InSession::session).toList();
    LookupScript.Question question = new LookupScript.Question(from, sessions, List.of(rowKey));
    LookupScript.Found found =
        redis.ask(of -> LookupScript.ask(of, slots.of(owner), question)).fields().get(0);
    if (found.claimed().length > 0) {
      String session = seen.claim() == null ? "" : Shown.by(from, seen.claim().session());
      to.add(
          place(rows, Where.CLAIMED, owner, session, new EncodedRow(rowKey, found.claimed()), ""));
    }
    for (int i = sessions.size() - 1; i >= 0; i--) {
      byte[] image = found.dirty().get(i);
      if (image.length > 0) {
        InSession of = seen.sessions().get(i);
        to.add(
            place(
                rows,
                of.stale() ? Where.STALE : Where.DIRTY,
                owner,
                Shown.by(from, of.session()),
                new EncodedRow(rowKey, image),
                ""));
      }
    }
  }

  private static void addMySql(
      RowReading rows, List<RowPlace> to, RowInMySql found, String rowKey) {
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
              rows,
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

  private static RowPlace place(
      RowReading rows, Where where, OwnerId owner, String session, EncodedRow row, String note) {
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
}
