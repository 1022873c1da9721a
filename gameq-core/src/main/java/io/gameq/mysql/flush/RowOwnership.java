package io.gameq.mysql.flush;

import io.gameq.mysql.ErrorKind.NotOwnerException;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.mysql.flush.RowBisection.RowRefusal;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.HandoverTable;
import io.gameq.mysql.tables.HandoverTable.NotedHandover;
import io.gameq.mysql.tables.TombstoneTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader.Handover;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Decides, within a flush, whether rows are their sessions' to write, by the rules in {@link
 * io.gameq.mysql}. One thread, one transaction, which has locked every owner concerned.
 *
 * <p>Only rows that were handed over, deletes, and rows that two owners change in one flush are
 * looked at here. All other puts are checked by the upsert itself, which fails on a row of another
 * owner; tables whose primary key names the owner need no check. Rows that were sent are looked at
 * as well: they come under new keys.
 */
final class RowOwnership {
  private static final int KEYS_PER_STATEMENT = 256;

  private final Connection connection;
  private final Map<OwnerId, CountingSessions> sessions;
  private final Map<RowKey, List<RowChange>> together = new HashMap<>();
  private final Map<RowKey, Present> present = new HashMap<>();
  private final Map<Table, List<RowKey>> looked = new HashMap<>();
  private final Map<Table, Map<RowKey, List<NotedHandover>>> noted = new HashMap<>();
  private final Map<Table, List<RowChange>> settled = new HashMap<>();

  /** Of {@link #settled}, those that are overtaken: who wrote since need not have known of them. */
  private final Set<RowChange> overtaken = new HashSet<>();

  private final Set<RowChange> handedOver = new HashSet<>();

  /** Rows that are not this session's to write, or not yet. */
  final List<RowRefusal> refused = new ArrayList<>();

  /** What MySQL holds of a row; {@code owner} is null when it holds none, or one of nobody. */
  private record Present(boolean isThere, @Nullable OwnerId owner, long version) {
    static final Present NOTHING = new Present(false, null, -1);
  }

  /**
   * A decision to be made.
   *
   * @param sessions those that count of each owner, locked: of those whose rows are flushed, and of
   *     those that moved rows name
   */
  RowOwnership(Connection connection, Map<OwnerId, CountingSessions> sessions) {
    this.connection = connection;
    this.sessions = sessions;
  }

  /** Rows that may be written now, in turns: each row once in a turn, older versions first. */
  List<List<RowChange>> decide(Collection<RowChange> changes) throws SQLException {
    Map<RowKey, RowChange> first = new HashMap<>();
    for (RowChange change : changes) {
      RowChange other = first.putIfAbsent(change.key(), change);
      if (other != null) {
        together.computeIfAbsent(change.key(), key -> new ArrayList<>(List.of(other))).add(change);
      }
    }
    List<RowChange> plain = new ArrayList<>(changes.size());
    List<RowChange> special = new ArrayList<>();
    for (RowChange change : changes) {
      boolean isSpecial = isLookedAt(change) || together.containsKey(change.key());
      (isSpecial ? special : plain).add(change);
    }
    List<List<RowChange>> turns = new ArrayList<>();
    turns.add(plain);
    if (special.isEmpty()) {
      return turns;
    }
    look(special);
    Map<RowKey, Integer> turn = new HashMap<>();
    special.sort(
        Comparator.comparingLong((RowChange row) -> row.image().version())
            .thenComparing(row -> row.image().op() != RowOp.MOVED));
    for (RowChange row : special) {
      if (mayBeWritten(row)) {
        int at = turn.merge(row.key(), 0, (was, one) -> was + 1);
        if (at == turns.size()) {
          turns.add(new ArrayList<>());
        }
        turns.get(at).add(row);
      }
    }
    return turns;
  }

  private static boolean isLookedAt(RowChange row) {
    return row.owner().isInbox()
        || (!row.key().table().isKeyedByOwner()
            && (row.image().op() != RowOp.PUT || !row.image().handovers().isEmpty()));
  }

  /** Whether this row may take the place of another owner's, which is locked. */
  boolean isHandedOver(RowChange row) {
    return handedOver.contains(row);
  }

  /**
   * Forgets what was noted of handovers that are settled by what was written, now or before, and
   * that one of their halves was set aside for want of the other, if MySQL has come to hold it.
   *
   * @param refused what was not written after all
   */
  void forgetSettled(Collection<RowRefusal> refused) throws SQLException {
    Set<RowKey> notWritten = new HashSet<>();
    refused.forEach(refusal -> notWritten.add(refusal.row().key()));
    for (Map.Entry<Table, List<RowChange>> of : settled.entrySet()) {
      List<RowChange> rows =
          of.getValue().stream().filter(row -> !notWritten.contains(row.key())).toList();
      HandoverTable.remove(
          connection,
          of.getKey(),
          rows.stream().map(RowChange::key).collect(Collectors.toUnmodifiableSet()));
      DeadLetterTable.removeHalves(
          connection, of.getKey(), rows.stream().filter(row -> !overtaken.contains(row)).toList());
    }
  }

  // --- look

  private void look(List<RowChange> rows) throws SQLException {
    Set<RowKey> keys = new HashSet<>();
    for (RowChange row : rows) {
      if (row.owner().isInbox() || !row.key().table().isKeyedByOwner()) {
        keys.add(row.key());
      }
    }
    TombstoneTable.read(connection, keys, false)
        .forEach((key, version) -> present.put(key, new Present(false, null, version)));
    looked.putAll(Sql.byTable(keys));
    for (Map.Entry<Table, List<RowKey>> of : looked.entrySet()) {
      of.getValue().sort(Comparator.comparing(RowKey::text));
      for (List<RowKey> some : Sql.chunks(of.getValue(), KEYS_PER_STATEMENT)) {
        look(of.getKey(), Sql.padded(some));
      }
    }
  }

  private void look(Table table, List<RowKey> keys) throws SQLException {
    Sql.select(
        connection,
        "SELECT gq_version, %s, %s FROM %s WHERE %s FOR UPDATE"
            .formatted(
                JdbcValues.selectExpression(table.ownerColumn()),
                JdbcValues.selectExpressions(table.keyColumns()),
                JdbcValues.quoted(table.name()),
                Sql.keyIn(table, keys.size())),
        rs -> {
          Object owner = JdbcValues.read(rs, 2, table.ownerColumn());
          present.put(
              JdbcValues.readKey(rs, 3, table),
              new Present(true, owner == null ? null : table.ownerOfValue(owner), rs.getLong(1)));
        },
        Sql.keyArguments(table, keys).toArray());
  }

  private Present at(RowKey key) {
    return present.getOrDefault(key, Present.NOTHING);
  }

  // --- decide

  private boolean mayBeWritten(RowChange row) throws SQLException {
    if (row.owner().isInbox()) {
      return isNew(row);
    }
    if (row.key().table().isKeyedByOwner()) {
      return true;
    }
    Present now = at(row.key());
    boolean his =
        now.isThere
            ? row.owner().equals(now.owner)
            : row.owner().kind().equals(row.key().table().ownerKind());
    if (row.image().version() <= now.version) { // it changes nothing
      if (!row.image().handovers().isEmpty()) {
        settles(row);
        if (row.image().version() < now.version) {
          overtaken.add(row);
        }
      }
      return his && row.image().op() != RowOp.MOVED;
    }
    List<Handover> unsettled =
        row.image().handovers().stream()
            .filter(one -> Long.compareUnsigned(one.version(), Math.max(0, now.version)) > 0)
            .toList();
    if (!his
        && unsettled.stream().noneMatch(one -> one.received() && one.other().equals(now.owner))) {
      String owner = now.owner == null ? "nobody" : now.owner.toString();
      if (unsettled.stream().noneMatch(Handover::received)) {
        return refuse(row, NotOwnerException.of(row, owner));
      }
      String why =
          "the row belongs to %s, who has not given it to any of %s yet"
              .formatted(owner, unsettled);
      Set<OwnerId> others =
          unsettled.stream().map(Handover::other).collect(Collectors.toUnmodifiableSet());
      return refuse(row, NotOwnerException.pending(row, others, why));
    }
    for (Handover one : unsettled) {
      if (!isConfirmed(row, one)) {
        String why =
            "it was %s; that session owns no more, and the one that does has not said that it knows"
                .formatted(one);
        return refuse(row, NotOwnerException.pending(row, Set.of(one.other()), why));
      }
    }
    if (!unsettled.isEmpty() || row.image().op() == RowOp.MOVED) {
      settles(row);
      if (now.isThere) { // else nothing is locked: the upsert makes sure that nobody put it since
        handedOver.add(row);
      }
    }
    present.put(row.key(), after(row));
    return true;
  }

  /**
   * Whether a row that was sent has a new key, or is there already: a newer version is a change of
   * this very row.
   */
  private boolean isNew(RowChange row) {
    Present now = at(row.key());
    if (now.isThere && row.image().version() > now.version) {
      return refuse(row, NotOwnerException.keyInUse(row));
    }
    if (row.image().version() > now.version) {
      present.put(row.key(), after(row));
    }
    return true;
  }

  /** Returns false. */
  private boolean refuse(RowChange row, NotOwnerException why) {
    refused.add(new RowRefusal(row, why));
    return false;
  }

  private void settles(RowChange row) {
    settled.computeIfAbsent(row.key().table(), table -> new ArrayList<>()).add(row);
  }

  private static Present after(RowChange row) {
    long version = row.image().version();
    return row.image().op() == RowOp.DELETE
        ? new Present(false, null, version)
        : new Present(true, row.key().table().ownerOf(row.image().values()), version);
  }

  /**
   * Whether a session of the other owner that counts knows of a handover: it took part itself, or
   * has the other half, in this flush or in one before.
   */
  private boolean isConfirmed(RowChange row, Handover one) throws SQLException {
    CountingSessions its = sessions.get(one.other());
    return CountingSessions.counts(its, one.session())
        || together.getOrDefault(row.key(), List.of()).stream()
            .filter(half -> half.owner().equals(one.other()))
            .flatMap(half -> half.image().handovers().stream())
            .anyMatch(other -> other.isOtherSideOf(one, row.owner()))
        || noted(row.key()).stream()
            .anyMatch(
                known ->
                    known.owner().equals(one.other())
                        && known.version() == one.version()
                        && known.received() != one.received()
                        && CountingSessions.counts(its, known.session()));
  }

  private List<NotedHandover> noted(RowKey key) throws SQLException {
    Map<RowKey, List<NotedHandover>> of = noted.get(key.table());
    if (of == null) {
      of = HandoverTable.read(connection, looked.getOrDefault(key.table(), List.of()));
      noted.put(key.table(), of);
    }
    return of.getOrDefault(key, List.of());
  }
}
