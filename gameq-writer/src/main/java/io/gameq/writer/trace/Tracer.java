package io.gameq.writer.trace;

import io.gameq.GameQueueException;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.mysql.tables.HandoverTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.NodeSigns;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.terminal.ErrorLine;
import io.gameq.terminal.Shown;
import io.gameq.writer.admin.StaleSessions.RowColumn;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.mysql.MySqlOwner;
import io.gameq.writer.mysql.MySqlOwner.OwnerRecord;
import io.gameq.writer.mysql.PauseTable;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.mysql.PauseTable.WriterPause;
import io.gameq.writer.mysql.StoredRowDecoder;
import io.gameq.writer.mysql.StoredRowDecoder.DecodeError;
import io.gameq.writer.mysql.StoredRowDecoder.DecodedRow;
import io.gameq.writer.mysql.StoredRowDecoder.MySqlRow;
import io.gameq.writer.redis.RedisOwner;
import io.gameq.writer.redis.RedisOwner.SessionRows;
import io.gameq.writer.trace.NextStep.OwnerTrace;
import io.gameq.writer.trace.NextStep.StepKind;
import io.gameq.writer.trace.Tracer.RowTrace.RowPlace;
import io.gameq.writer.trace.Tracer.RowTrace.RowPlace.PlaceKind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
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
  private final CommandServers servers;
  private final Slots slots;
  private final ControlConnection redis;
  private final Supplier<Map<String, String>> parked;

  /**
   * With servers that others close.
   *
   * @param parked tables that take no rows now, and why; may ask Redis
   */
  public Tracer(CommandServers servers, Supplier<Map<String, String>> parked) {
    this.servers = servers;
    this.slots = servers.slots();
    this.redis = servers.redis();
    this.parked = parked;
  }

  /** Looks at an owner. */
  public OwnerTrace owner(OwnerId owner) {
    SlotKeys slot = slots.of(owner);
    MySqlOwner inMySql = null;
    List<WriterPause> pauses = List.of();
    String mysqlError = "";
    try {
      MySql database = servers.mysql();
      MySqlOwner found = MySqlOwner.read(database, owner);
      pauses =
          PauseTable.all(database).stream()
              .filter(of -> of.scope() != Scope.WRITER)
              .filter(
                  of -> of.scope() != Scope.SLOT || of.name().equals(Integer.toString(slot.slot())))
              .toList();
      inMySql = found;
    } catch (GameQueueException e) {
      mysqlError = ErrorLine.of(e);
    }
    RedisOwner inRedis = null;
    String redisError = "";
    String aliveNode = null;
    Map<String, String> nowParked = Map.of();
    try {
      OwnerRecord raised = inMySql == null ? null : inMySql.raised();
      List<SessionId> known = raised == null ? List.of() : raised.sessions().all();
      inRedis = redis.ask(of -> RedisOwner.look(of, slot, owner, known));
      SessionId holder = OwnerTrace.holder(inMySql, inRedis);
      nowParked = parked.get();
      aliveNode =
          holder == null
              ? null
              : redis.ask(
                  of -> NodeSigns.aliveNode(of, slots.namespace(), NodeSigns.process(holder)));
    } catch (GameQueueException e) {
      redisError = ErrorLine.of(e);
    }
    return new OwnerTrace(
        owner, slot.slot(), inRedis, redisError, inMySql, mysqlError, aliveNode, pauses, nowParked);
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
      String table,
      String keyText,
      Collection<OwnerId> more,
      Collection<WalSearch.WalMatch> inWals) {
    String rowKey = rowKey(table, keyText);
    MySql database = servers.mysql();
    StoredRowDecoder rows = new StoredRowDecoder(database);
    RowKey key = rows.key(rowKey);
    MySqlRow inMySql = MySqlRow.read(database, rows, table, keyText, key);
    Set<OwnerId> all = new LinkedHashSet<>(inMySql.owners());
    all.addAll(more);
    Places places = new Places(rows, rowKey);
    for (WalSearch.WalMatch of : inWals) {
      all.add(of.owner().base());
      String by = Shown.by(of.owner(), of.session());
      places.add(PlaceKind.WAL, of.owner().base(), by, of.row().image(), of.note());
    }
    List<OwnerTrace> traces = all.stream().map(this::owner).toList();
    for (OwnerTrace trace : traces) {
      RedisOwner inRedis = trace.redis();
      if (inRedis != null) {
        places.addRedis(inRedis, trace.owner());
        inRedis.inboxes().forEach((inbox, of) -> places.addRedis(of, inbox));
      }
    }
    places.addMySql(inMySql);
    return new RowTrace(rowKey, key != null, places.all, traces);
  }

  /** How row keys write it. */
  public static String rowKey(String table, String keyText) {
    return PercentEncoding.percent(table) + ":" + keyText;
  }

  /** Where versions of one row were found. */
  private final class Places {
    private final StoredRowDecoder rows;
    private final String rowKey;
    private final List<RowPlace> all = new ArrayList<>();

    Places(StoredRowDecoder rows, String rowKey) {
      this.rows = rows;
      this.rowKey = rowKey;
    }

    void addRedis(RedisOwner seen, OwnerId from) {
      OwnerId owner = from.base();
      List<SessionId> sessions = seen.sessions().stream().map(SessionRows::session).toList();
      LookupScript.Question question = new LookupScript.Question(from, sessions, List.of(rowKey));
      LookupScript.Found found =
          redis.ask(of -> LookupScript.ask(of, slots.of(owner), question)).fields().get(0);
      if (found.claimed().length > 0) {
        String session = seen.claim() == null ? "" : Shown.by(from, seen.claim().session());
        add(PlaceKind.CLAIMED, owner, session, found.claimed(), "");
      }
      for (int i = sessions.size() - 1; i >= 0; i--) {
        byte[] image = found.dirty().get(i);
        if (image.length > 0) {
          PlaceKind where = seen.sessions().get(i).stale() ? PlaceKind.STALE : PlaceKind.DIRTY;
          add(where, owner, Shown.by(from, sessions.get(i)), image, "");
        }
      }
    }

    void addMySql(MySqlRow found) {
      RowImage row = found.row();
      if (row != null) {
        OwnerId owner = row.table().ownerOf(row.values());
        all.add(new RowPlace(PlaceKind.MYSQL, owner, "", row.version(), RowOp.PUT, row, ""));
      }
      MySqlRow.Tombstone deleted = found.deleted();
      if (deleted != null) {
        add(PlaceKind.TOMBSTONE, deleted.owner(), "", deleted.version(), RowOp.DELETE, "");
      }
      for (Stored letter : found.letters()) {
        Refused of = letter.refused();
        String id = Long.toString(letter.id());
        add(PlaceKind.DEAD_LETTER, of.owner(), id, of.image(), "error " + of.errorCode());
      }
      for (Discard of : found.discards()) {
        add(PlaceKind.DISCARD, of.owner(), of.session(), of.version(), null, "up to this version");
      }
      for (HandoverTable.NotedHandover of : found.handovers()) {
        String note = of.received() ? "received" : "given away";
        add(PlaceKind.HANDOVER, of.owner(), of.session().text(), of.version(), RowOp.MOVED, note);
      }
    }

    private void add(
        PlaceKind where,
        OwnerId owner,
        String session,
        long version,
        @Nullable RowOp op,
        String note) {
      all.add(new RowPlace(where, owner, session, version, op, null, note));
    }

    void add(PlaceKind where, OwnerId owner, String session, byte[] bytes, String note) {
      StoredRowDecoder.DecodeResult reading = rows.read(rowKey, bytes);
      if (reading instanceof DecodedRow decoded) {
        RowImage image = decoded.image();
        all.add(new RowPlace(where, owner, session, image.version(), image.op(), image, note));
        return;
      }
      String reason = "cannot be decoded: " + ((DecodeError) reading).reason();
      long version = WalRow.version(bytes);
      add(where, owner, session, version, null, note.isEmpty() ? reason : note + ", " + reason);
    }
  }

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

    /** What will happen to the row next, in one sentence. */
    public NextStep next() {
      for (OwnerTrace owner : owners) {
        if (owner.redis() == null || owner.mysql() == null) {
          return StepKind.CANNOT_TELL.next(
              "%s does not answer: where the newest version is cannot be told.",
              owner.redis() == null ? "Redis" : "MySQL");
        }
      }
      RowPlace inMySql = newest(null, PlaceKind.MYSQL, PlaceKind.TOMBSTONE);
      RowPlace waits = newest(inMySql, PlaceKind.DIRTY, PlaceKind.CLAIMED);
      if (waits != null) {
        return waiting(waits);
      }
      RowPlace refused = newest(inMySql, PlaceKind.DEAD_LETTER);
      if (refused != null) {
        return StepKind.DEAD_LETTERS.next(
            "MySQL refused version %s: mend the cause, then 'gameq-writer dead retry %s', or"
                + " 'gameq-writer dead discard %s'.",
            refused.versionText(), refused.session(), refused.session());
      }
      RowPlace stale = newest(inMySql, PlaceKind.STALE);
      if (stale != null) {
        return StepKind.STALE.next(
            "version %s is of a session that had lost the owner: it is never flushed ('gameq-writer"
                + " stale show %s').",
            stale.versionText(), stale.owner().id());
      }
      return ofWal(inMySql);
    }

    private NextStep waiting(RowPlace waits) {
      RowPlace discard = newest(null, PlaceKind.DISCARD);
      if (discard != null
          && discard.session().isEmpty()
          && discard.owner().equals(waits.owner())
          && !waits.isNewerThan(discard)) {
        return StepKind.NOTHING.next(
            "version %s was given up by an operator: the next flush leaves it out.",
            waits.versionText());
      }
      return owners.stream()
          .filter(of -> of.owner().equals(waits.owner()))
          .findFirst()
          .map(NextStep::of)
          .orElseThrow();
    }

    private NextStep ofWal(@Nullable RowPlace inMySql) {
      RowPlace inWal = newest(inMySql, PlaceKind.WAL);
      RowPlace discard = newest(null, PlaceKind.DISCARD);
      if (inWal != null && inWal.isNewerThan(discard)) {
        return StepKind.HEALING.next(
            "only the WAL has version %s: its node puts it back when it heals or starts again, or"
                + " gameq-recovery does.",
            inWal.versionText());
      }
      if (inMySql != null) {
        return inMySql.where() == PlaceKind.MYSQL
            ? StepKind.NOTHING.next("nothing: the newest version is in MySQL.")
            : StepKind.NOTHING.next(
                "nothing: the row was deleted, and nothing older brings it back.");
      }
      if (discard != null) {
        return StepKind.NOTHING.next("nothing: an operator gave its changes up.");
      }
      return owners.isEmpty()
          ? StepKind.NOT_KNOWN.next(
              "nobody knows this row, nor whose it would be: name its owner with --owner to look"
                  + " into Redis.")
          : StepKind.NOT_KNOWN.next("nobody knows this row.");
    }

    /** The newest of those in some places; null when none is newer than another one. */
    private @Nullable RowPlace newest(@Nullable RowPlace than, PlaceKind... where) {
      Set<PlaceKind> wanted = Set.of(where);
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
        PlaceKind where,
        OwnerId owner,
        String session,
        long version,
        @Nullable RowOp op,
        @Nullable RowImage image,
        String note) {
      /** The places in which a version of a row may be, on its way. */
      public enum PlaceKind {
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
          return Shown.lower(this).replace('_', ' ');
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
        return op == null ? "" : Shown.lower(op);
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
}
