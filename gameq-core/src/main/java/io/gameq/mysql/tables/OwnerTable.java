package io.gameq.mysql.tables;

import io.gameq.MySqlException;
import io.gameq.mysql.GroupedCalls;
import io.gameq.mysql.MySqlErrors;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.mysql.Statements;
import io.gameq.mysql.schema.Settings;
import io.gameq.owner.DurableSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.sign.Protocol;
import io.gameq.term.Term;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jdbi.v3.core.HandleCallback;
import org.jspecify.annotations.Nullable;

/** The durable sessions in {@code gameq_owner}. Thread-safe. */
public final class OwnerTable implements DurableSessions {
  /** Keeps a statement far below max_allowed_packet. */
  private static final int OWNERS_PER_STATEMENT = 1_000;

  /** The owner, and what {@link #counting} reads, in the order in which it does. */
  public static final String SESSION_COLUMNS =
      "owner, epoch, nonce, state, before_epoch, before_nonce";

  /** Of sessions that are raised at the same moment. */
  private static final int MOST_TOGETHER = 32;

  private static final int MOST_AT_ONCE = 4;

  private static final int MOST_TRIES = 3;

  /** An open takes less, and may have failed by then. */
  private static final int OPEN_SECONDS = 2;

  /** Takeovers since a commit after which it is not known any more who has it. */
  private static final int MOST_ADOPTIONS = 8;

  /** Before the session is overwritten: assignments run in order. */
  private static final String KEEP_THE_LAST_OPEN =
      " before_epoch = IF(state = 'opening', before_epoch, epoch), before_nonce = IF(state ="
          + " 'opening', before_nonce, nonce),";

  /** The setting that has the highest epoch of all owners that were purged. */
  public static final String PURGED_EPOCH = "owners_purged_epoch";

  private static final String READ_PURGED_EPOCH =
      "SELECT COALESCE(MAX(CAST(value AS UNSIGNED)), 0)%s FROM gameq_setting WHERE name = '"
          + PURGED_EPOCH
          + "'";

  /** What {@link #durable} has in place of a node's name. */
  private static final String PURGED = "(purged)";

  /** Of no session, as of an owner that was never opened. */
  private static final String NO_NONCE = "0000000000000000";

  private static final String NOT_SEEN =
      "by another transaction: information_schema.INNODB_TRX shows it to users with the PROCESS"
          + " privilege";

  private final MySql mysql;
  private final GroupedCalls<EpochRequest, SessionId> raises =
      new GroupedCalls<>(MOST_TOGETHER, MOST_AT_ONCE, this::raise, this::raiseAll);

  public OwnerTable(MySql mysql) {
    this.mysql = mysql;
  }

  // --- raise: step 1 of open

  /** A session that is to be raised; its epoch is at least {@code atLeast}. */
  record EpochRequest(OwnerId owner, String nonce, String node, long atLeast) {
    private Stream<Object> values() {
      return Stream.of(owner.encoded(), atLeast, nonce, node);
    }
  }

  /**
   * Step 1 of open: a new session for this attempt, state opening, committed with those of others
   * that are raised at the same moment. Its epoch is above the one before, above all that were
   * purged, and at least {@code atLeast}. The last session that was open goes on counting beside
   * it.
   *
   * @throws MySqlException when others lock the owner, too, naming who may
   */
  public SessionId raise(OwnerId owner, String nonce, String node, long atLeast) {
    return raises.call(new EpochRequest(owner, nonce, node, atLeast));
  }

  /**
   * The same, if the owner's sessions are still those that were seen, and no other node began to
   * open it in the last {@value #OPEN_SECONDS} s: a login is not to lose to whoever asks first.
   *
   * @param seen null when it had none
   * @return null when they have changed; nothing was written then
   */
  public @Nullable SessionId raiseAfter(
      @Nullable CountingSessions seen, OwnerId owner, String nonce, String node, long atLeast) {
    if (seen == null) {
      EpochRequest wanted = new EpochRequest(owner, nonce, node, atLeast);
      SessionId raised =
          raising(owner, to -> insert(to.getConnection(), List.of(wanted), "epoch = epoch"))
              .get(owner);
      return raised != null && raised.nonce().equals(nonce) ? raised : null;
    }
    SessionId session = new SessionId(Math.max(seen.newest().epoch() + 1, atLeast), nonce);
    return raising(owner, to -> raiseAfter(to.getConnection(), seen, owner, session, node))
        ? session
        : null;
  }

  private static boolean raiseAfter(
      Connection connection, CountingSessions seen, OwnerId owner, SessionId session, String node)
      throws SQLException {
    int changed =
        Sql.execute(
            connection,
            "UPDATE gameq_owner SET"
                + KEEP_THE_LAST_OPEN
                + " epoch = ?, nonce = ?, node = ?, state = 'opening', opened_at ="
                + " UTC_TIMESTAMP(3) WHERE owner = ? AND epoch = ? AND nonce = ? AND state = ? AND"
                + " (state = 'open' OR node = ? OR opened_at NOT BETWEEN UTC_TIMESTAMP(3) -"
                + " INTERVAL "
                + OPEN_SECONDS
                + " SECOND AND UTC_TIMESTAMP(3))",
            session.epoch(),
            session.nonce(),
            node,
            owner.encoded(),
            seen.newest().epoch(),
            seen.newest().nonce(),
            seen.opening() ? "opening" : "open",
            node);
    return changed == 1;
  }

  private SessionId raise(EpochRequest wanted) {
    return raising(wanted.owner, to -> raise(to.getConnection(), List.of(wanted)).get(0));
  }

  /** In one transaction. */
  List<SessionId> raiseAll(List<EpochRequest> all) {
    return mysql.ask(handle -> raise(handle.getConnection(), all));
  }

  /** Raises an owner's epoch, again when others hold locks. */
  private <T> T raising(OwnerId owner, HandleCallback<T, SQLException> call) {
    for (int tries = 1; ; tries++) {
      try {
        return mysql.ask(call);
      } catch (MySqlException e) {
        if (MySqlErrors.isLockWait(e)) { // who logs in waits no longer: MySQL's 1 s is up to 2
          throw new MySqlException(
              "%s is locked in MySQL, %s. It may be a writer's flush: open it again"
                  .formatted(owner, byWhom()),
              e);
        }
        if (tries == MOST_TRIES || !MySqlErrors.isTryAgain(e)) {
          throw e;
        }
      }
    }
  }

  /** The transactions that have been open for longest, as far as MySQL lets us see them. */
  private String byWhom() {
    try {
      List<String> open =
          mysql.list(
              "SELECT CONCAT('connection ', trx_mysql_thread_id, ' for ', TIMESTAMPDIFF(SECOND,"
                  + " trx_started, CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM')), ' s') FROM"
                  + " information_schema.INNODB_TRX WHERE trx_rows_locked > 0 AND"
                  + " trx_mysql_thread_id <> CONNECTION_ID() ORDER BY trx_started LIMIT 3",
              rs -> rs.getString(1));
      return open.isEmpty()
          ? NOT_SEEN
          : "by one of the transactions that are open there: " + String.join(", ", open);
    } catch (MySqlException e) {
      return NOT_SEEN;
    }
  }

  private static List<SessionId> raise(Connection connection, List<EpochRequest> all)
      throws SQLException {
    Map<OwnerId, SessionId> raised =
        insert(
            connection,
            all,
            KEEP_THE_LAST_OPEN
                + " epoch = GREATEST(epoch + 1, VALUES(epoch)), nonce = VALUES(nonce), node ="
                + " VALUES(node), state = 'opening', opened_at = VALUES(opened_at)");
    for (EpochRequest one : all) {
      SessionId session = raised.get(one.owner);
      if (session == null || !session.nonce().equals(one.nonce)) { // asked for twice in one group
        throw new SQLException("MySQL did not tell the epoch of " + one.owner);
      }
    }
    return all.stream().map(one -> Objects.requireNonNull(raised.get(one.owner))).toList();
  }

  /**
   * Inserts sessions in one round trip, and returns the newest of each owner. Locks the owners
   * before it reads the purged epoch: else an insert that waited for a purge of its owner would
   * begin below the epoch that this purge noted.
   *
   * @param ifThere assignments for an owner that has a row
   */
  private static Map<OwnerId, SessionId> insert(
      Connection connection, List<EpochRequest> all, String ifThere) throws SQLException {
    // In this order all lock owners, so that none wait in a circle.
    List<EpochRequest> sorted =
        all.stream().sorted(Comparator.comparing(one -> one.owner.encoded())).toList();
    List<String> names = padded(all.stream().map(EpochRequest::owner).toList());
    String in = " WHERE owner IN (" + Sql.marks(names.size()) + ")";
    Map<OwnerId, SessionId> newest = new HashMap<>();
    new Statements()
        .add("START TRANSACTION")
        .addSelect(
            "SELECT 1 FROM gameq_owner FORCE INDEX (PRIMARY)" + in + " FOR UPDATE",
            rs -> {},
            names.toArray())
        // Into a variable: within the INSERT it would lock the setting, and logins would wait
        // there.
        .add(READ_PURGED_EPOCH.formatted(" INTO @gameq_purged"))
        .add(
            "INSERT INTO gameq_owner (owner, epoch, nonce, node, state, opened_at) VALUES "
                + Sql.rows(
                    "(?, GREATEST(@gameq_purged + 1, ?), ?, ?, 'opening', UTC_TIMESTAMP(3))",
                    sorted.size())
                + " ON DUPLICATE KEY UPDATE "
                + ifThere,
            sorted.stream().flatMap(EpochRequest::values).toArray())
        .addSelect(
            "SELECT owner, epoch, nonce FROM gameq_owner" + in,
            rs ->
                newest.put(
                    OwnerId.ofEncoded(rs.getString(1)),
                    new SessionId(rs.getLong(2), rs.getString(3))),
            names.toArray())
        .runWithCommit(connection);
    return newest;
  }

  // --- restore

  /** A session that MySQL lost, and the name of its node; empty when that is not known. */
  public record LostSession(OwnerId owner, SessionId session, String node) {}

  /**
   * Writes sessions again that MySQL lost with its newest commits, each unless it holds the same or
   * a newer epoch of the owner by now, or may have purged it: then it has no row of the owner, and
   * has purged an epoch as high. May be repeated.
   */
  public void restore(Collection<LostSession> sessions) {
    for (List<LostSession> some : Sql.chunks(List.copyOf(sessions), OWNERS_PER_STATEMENT)) {
      boolean unused = mysql.inTransaction(to -> restore(to.getConnection(), some));
    }
  }

  private static boolean restore(Connection connection, List<LostSession> all) throws SQLException {
    Set<OwnerId> there =
        existing(connection, all.stream().map(LostSession::owner).toList(), " FOR UPDATE");
    long purged = purgedEpoch(connection);
    List<LostSession> lost =
        all.stream().filter(of -> there.contains(of.owner) || of.session.epoch() > purged).toList();
    return !lost.isEmpty()
        && Sql.execute(
                connection,
                // The epoch last: assignments run in order, and the others compare with it.
                "INSERT INTO gameq_owner (owner, epoch, nonce, node, state, opened_at) VALUES "
                    + Sql.rows("(?, ?, ?, ?, 'open', UTC_TIMESTAMP(3))", lost.size())
                    + (" ON DUPLICATE KEY UPDATE nonce = IF(%1$s, VALUES(nonce), nonce), node ="
                            + " IF(%1$s, VALUES(node), node), before_epoch = IF(%1$s, NULL,"
                            + " before_epoch), before_nonce = IF(%1$s, NULL, before_nonce),"
                            + " adopted_version = IF(%1$s, 0, adopted_version), state = IF(%1$s,"
                            + " 'open', state), opened_at = IF(%1$s, VALUES(opened_at),"
                            + " opened_at), epoch = GREATEST(epoch, VALUES(epoch))")
                        .formatted("VALUES(epoch) > epoch"),
                lost.stream()
                    .flatMap(
                        of ->
                            Stream.of(
                                of.owner.encoded(),
                                of.session.epoch(),
                                of.session.nonce(),
                                of.node))
                    .toArray())
            > 0;
  }

  @Override
  public boolean restore(OwnerId owner, SessionId session) {
    restore(List.of(new LostSession(owner, session, "")));
    CountingSessions now = current(List.of(owner)).get(owner);
    return now != null && now.newest().equals(session);
  }

  // --- set open: step 3 of open

  /**
   * A session that is to be set open.
   *
   * @param adopted the highest version that it took over from Redis, 0 for none
   */
  record NewlyOpen(OwnerId owner, SessionId session, long adopted) {}

  /**
   * Adds the first statement of the transaction that loads owners, step 3 of open: each session
   * counts alone from the commit on. Locks the owners: what the sessions before have flushed is
   * seen by what is read afterwards, and they flush nothing more. Where one is not the newest of
   * its owner, {@link Statements#run} goes no further. By the index, or a small table would be
   * scanned and locked as a whole.
   */
  static void addMarkOpen(Statements to, Collection<NewlyOpen> sessions) {
    List<NewlyOpen> all =
        Sql.padded(
            sessions.stream().sorted(Comparator.comparing(one -> one.owner.encoded())).toList());
    to.addUpdate(
        // Assignments run in their order: the epoch before is gone last.
        "UPDATE gameq_owner FORCE INDEX (PRIMARY) SET state = 'open', adopted_version = CASE owner"
            + " WHEN ? THEN ?".repeat(all.size())
            + " END, adoptions = SUBSTRING_INDEX(CONCAT_WS(' ', CONCAT(before_epoch, ':',"
            + " adopted_version), NULLIF(adoptions, '')), ' ', "
            + MOST_ADOPTIONS
            + "), before_epoch = NULL, before_nonce = NULL WHERE "
            + Sql.anyOf("owner = ? AND epoch = ? AND nonce = ?", all.size()),
        found -> found == sessions.size(),
        Stream.concat(
                all.stream().flatMap(one -> Stream.of(one.owner.encoded(), one.adopted)),
                all.stream()
                    .flatMap(
                        one ->
                            Stream.of(
                                one.owner.encoded(), one.session.epoch(), one.session.nonce())))
            .toArray());
  }

  /** Sets one open by itself, where nothing is loaded. */
  public boolean markOpen(OwnerId owner, SessionId session) {
    return mysql.askAgain(
        handle -> {
          Statements all = new Statements();
          addMarkOpen(all, List.of(new NewlyOpen(owner, session, 0)));
          return all.run(handle.getConnection());
        });
  }

  /**
   * The highest version that the session which was open next took over from this one; 0 for none,
   * and if that is not known any more: of the last {@value #MOST_ADOPTIONS} sessions it is.
   */
  @Override
  public long adoptedFrom(OwnerId owner, SessionId session) {
    String from = session.epoch() + ":";
    String sql = "SELECT adoptions FROM gameq_owner WHERE owner = ?";
    return mysql.list(sql, rs -> rs.getString(1), owner.encoded()).stream()
        .flatMap(adoptions -> Stream.of(adoptions.split(" ", -1)))
        .filter(adoption -> adoption.startsWith(from))
        .mapToLong(adoption -> Long.parseLong(adoption.substring(from.length())))
        .findFirst()
        .orElse(0);
  }

  // --- read

  @Override
  public Map<OwnerId, CountingSessions> current(Collection<OwnerId> owners) {
    return mysql.ask(handle -> sessions(handle.getConnection(), owners, ""));
  }

  /**
   * The sessions of owners whose newest was raised more than {@code millis} ago, by MySQL's clock:
   * one that is opening still has lost its node, and nobody has told Redis of it.
   */
  public Map<OwnerId, CountingSessions> raisedBefore(Collection<OwnerId> owners, long millis) {
    String before =
        " AND opened_at < UTC_TIMESTAMP(3) - INTERVAL " + millis * 1_000 + " MICROSECOND";
    return mysql.ask(handle -> sessions(handle.getConnection(), owners, before));
  }

  private static Map<OwnerId, CountingSessions> sessions(
      Connection connection, Collection<OwnerId> owners, String ending) throws SQLException {
    return select(connection, owners, SESSION_COLUMNS, ending, OwnerTable::counting);
  }

  /**
   * The sessions of an owner, and of whom it is.
   *
   * @param node that of the newest
   * @param openedAt when the newest was raised
   */
  public record Durable(CountingSessions sessions, String node, Instant openedAt) {}

  /**
   * The same with nodes and times. Once owners were purged, one without a row has a session that
   * nobody has, of the highest epoch that was purged: a replay then restores newer ones alone.
   */
  public Map<OwnerId, Durable> durable(Collection<OwnerId> owners) {
    return mysql.ask(
        handle -> {
          Connection connection = handle.getConnection();
          Map<OwnerId, Durable> found =
              select(
                  connection,
                  owners,
                  SESSION_COLUMNS + ", node, opened_at",
                  "",
                  rs -> new Durable(counting(rs), rs.getString(7), Sql.instant(rs, 8)));
          long purged = purgedEpoch(connection); // after the rows: of each that is gone by now
          SessionId nobody = new SessionId(purged, NO_NONCE);
          Durable none = new Durable(CountingSessions.open(nobody), PURGED, Instant.EPOCH);
          owners.stream().filter(of -> purged > 0).forEach(of -> found.putIfAbsent(of, none));
          return found;
        });
  }

  private static long purgedEpoch(Connection connection) throws SQLException {
    return Objects.requireNonNull(
        Sql.first(connection, READ_PURGED_EPOCH.formatted(""), rs -> rs.getLong(1)));
  }

  /**
   * The first statement of a transaction that writes owners' rows: locks the owners, sorted, and
   * returns their sessions that count. FOR UPDATE, because FOR SHARE would let two flushes of one
   * owner run side by side; first, so that what is read later was committed before the lock was
   * given.
   */
  public static Map<OwnerId, CountingSessions> lock(
      Connection connection, Collection<OwnerId> owners) throws SQLException {
    return lock(connection, owners, Term.NOT_KNOWN);
  }

  /**
   * The same for rows that came by way of a Redis primary.
   *
   * @param term its number, see {@link io.gameq.term}
   * @throws io.gameq.term.Term.TermMovedException when another primary counts
   * @throws io.gameq.sign.Protocol.UnspokenProtocolException when the protocol was raised beyond
   *     this build
   */
  public static Map<OwnerId, CountingSessions> lock(
      Connection connection, Collection<OwnerId> owners, long term) throws SQLException {
    return select(
        connection,
        owners,
        SESSION_COLUMNS + ", " + TermTable.NUMBER + ", " + Settings.PROTOCOL,
        " ORDER BY owner FOR UPDATE",
        rs -> {
          TermTable.requireCounts(term, rs.getLong(7));
          if (rs.isFirst()) { // it is the same in all
            Protocol unused = Settings.spoken(rs.getString(8));
          }
          return counting(rs);
        });
  }

  /** Those that MySQL has, with a locking clause or an empty one. */
  static Set<OwnerId> existing(Connection connection, Collection<OwnerId> owners, String locking)
      throws SQLException {
    return select(connection, owners, "owner", locking, rs -> true).keySet();
  }

  /** Something of each owner that MySQL has; its name is the first column. */
  private static <T> Map<OwnerId, T> select(
      Connection connection,
      Collection<OwnerId> owners,
      String columns,
      String ending,
      Sql.Reader<T> reader)
      throws SQLException {
    Map<OwnerId, T> found = new HashMap<>();
    List<String> sorted = owners.stream().map(OwnerId::encoded).distinct().sorted().toList();
    for (List<String> some : Sql.chunks(sorted, OWNERS_PER_STATEMENT)) {
      List<String> names = Sql.padded(some);
      Sql.select(
          connection,
          "SELECT "
              + columns
              + " FROM gameq_owner WHERE owner IN ("
              + Sql.marks(names.size())
              + ")"
              + ending,
          rs -> found.put(OwnerId.ofEncoded(rs.getString(1)), reader.read(rs)),
          names.toArray());
    }
    return found;
  }

  /** Their names for an IN list, see {@link Sql#padded}. */
  static List<String> padded(Collection<OwnerId> owners) {
    return Sql.padded(owners.stream().map(OwnerId::encoded).distinct().toList());
  }

  /** The sessions in a row that begins with {@link #SESSION_COLUMNS}. */
  public static CountingSessions counting(ResultSet rs) throws SQLException {
    String before = rs.getString(6);
    return new CountingSessions(
        new SessionId(rs.getLong(2), rs.getString(3)),
        rs.getString(4).equals("opening"),
        before == null ? null : new SessionId(rs.getLong(5), before));
  }

  /**
   * Locks one owner, so that no flush of it is under way, and returns its newest session; null when
   * it has none, or one that is not open: then the one before it may still count.
   */
  static @Nullable SessionId lockOpen(Connection connection, OwnerId owner) throws SQLException {
    return Sql.first(
        connection,
        "SELECT epoch, nonce FROM gameq_owner WHERE owner = ? AND state = 'open' FOR UPDATE",
        rs -> new SessionId(rs.getLong(1), rs.getString(2)),
        owner.encoded());
  }

  // --- write within a transaction of somebody else

  /**
   * Adds owners that have no row, with a session that nobody has, so that they can be locked: an
   * open may come at any moment. It has the epoch that was purged last, and none is lower.
   */
  public static void addNeverOpened(Connection connection, Collection<OwnerId> owners)
      throws SQLException {
    for (String owner : owners.stream().map(OwnerId::encoded).distinct().sorted().toList()) {
      Sql.execute(
          connection,
          "INSERT INTO gameq_owner (owner, epoch, nonce, node, state, opened_at) SELECT ?,"
              + " COALESCE(MAX(CAST(value AS UNSIGNED)), 0), ?, '', 'open', UTC_TIMESTAMP(3) FROM"
              + " gameq_setting WHERE name = ? ON DUPLICATE KEY UPDATE epoch = epoch",
          owner,
          NO_NONCE,
          PURGED_EPOCH);
    }
  }

  /** Whether a session is that of an owner which nobody has opened. */
  public static boolean isNeverOpened(SessionId session) {
    return session.nonce().equals(NO_NONCE);
  }

  /**
   * Ends the session of an owner that is locked: one that nobody has counts from the commit on.
   *
   * @param node says why, as operators read it in place of a node's name
   */
  public static void fence(Connection connection, OwnerId owner, SessionId session, String node)
      throws SQLException {
    Sql.execute(
        connection,
        "UPDATE gameq_owner SET epoch = ?, nonce = ?, node = ?, state = 'open', opened_at ="
            + " UTC_TIMESTAMP(3), before_epoch = NULL, before_nonce = NULL, adopted_version = 0"
            + " WHERE owner = ?",
        session.epoch(),
        session.nonce(),
        node,
        owner.encoded());
  }
}
