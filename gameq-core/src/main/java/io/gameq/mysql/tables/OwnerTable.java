package io.gameq.mysql.tables;

import io.gameq.MySqlException;
import io.gameq.mysql.GroupedCalls;
import io.gameq.mysql.MySqlErrors;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.mysql.Statements;
import io.gameq.owner.DurableSessions;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.term.Term;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.HandleCallback;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.PreparedBatch;
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

  /** Takeovers since a commit after which it is not known any more who has it. */
  private static final int MOST_ADOPTIONS = 8;

  private final MySql mysql;
  private final RaisedSessions raised;
  private final GroupedCalls<RaisedSessions.Wanted, SessionId> raises;

  public OwnerTable(MySql mysql) {
    this.mysql = mysql;
    this.raised = new RaisedSessions(mysql.jdbi());
    this.raises = new GroupedCalls<>(MOST_TOGETHER, MOST_AT_ONCE, raised);
  }

  /**
   * Step 1 of open: a new session for this attempt, state opening, committed with those of others
   * that are raised at the same moment. Its epoch is above the one before and at least {@code
   * atLeast}. The last session that was open goes on counting beside it.
   *
   * @throws MySqlException when others lock the owner, too, naming who may
   */
  public SessionId raise(OwnerId owner, String nonce, String node, long atLeast) {
    return raises.call(new RaisedSessions.Wanted(owner, nonce, node, atLeast));
  }

  /**
   * The same, if the owner's sessions are still those that were seen.
   *
   * @param seen null when it had none
   * @return null when they have changed; nothing was written then
   */
  public @Nullable SessionId raiseAfter(
      @Nullable CountingSessions seen, OwnerId owner, String nonce, String node, long atLeast) {
    long epoch = Math.max(seen == null ? 1 : seen.newest().epoch() + 1, atLeast);
    boolean isRaised =
        raised.raising(
            owner, handle -> raiseAfter(handle, seen, owner, new SessionId(epoch, nonce), node));
    return isRaised ? new SessionId(epoch, nonce) : null;
  }

  private static boolean raiseAfter(
      Handle handle,
      @Nullable CountingSessions seen,
      OwnerId owner,
      SessionId session,
      String node) {
    return seen == null
        ? handle.execute(
                "INSERT IGNORE INTO gameq_owner (owner, epoch, nonce, node, state, opened_at)"
                    + " VALUES (?, ?, ?, ?, 'opening', UTC_TIMESTAMP(3))",
                owner.encoded(),
                session.epoch(),
                session.nonce(),
                node)
            == 1
        : handle.execute(
                "UPDATE gameq_owner SET"
                    + RaisedSessions.KEEP_THE_LAST_OPEN
                    + " epoch = ?, nonce = ?, node = ?, state = 'opening', opened_at ="
                    + " UTC_TIMESTAMP(3) WHERE owner = ? AND epoch = ? AND nonce = ? AND state = ?",
                session.epoch(),
                session.nonce(),
                node,
                owner.encoded(),
                seen.newest().epoch(),
                seen.newest().nonce(),
                seen.opening() ? "opening" : "open")
            == 1;
  }

  /** A session that MySQL lost, and the name of its node; empty when that is not known. */
  public record Lost(OwnerId owner, SessionId session, String node) {}

  /**
   * Writes sessions again that MySQL lost with its newest commits, each unless it holds the same or
   * a newer epoch of the owner by now. May be repeated.
   */
  public void restore(Collection<Lost> sessions) {
    for (List<Lost> some : Sql.chunks(List.copyOf(sessions), OWNERS_PER_STATEMENT)) {
      mysql.inTransaction(handle -> restore(handle, some));
    }
  }

  private static int[] restore(Handle handle, List<Lost> sessions) {
    // The epoch last: assignments run in order, and the others compare with it.
    PreparedBatch batch =
        handle.prepareBatch(
            "INSERT INTO gameq_owner (owner, epoch, nonce, node, state, opened_at) VALUES (?, ?, ?,"
                + " ?, 'open', UTC_TIMESTAMP(3)) ON DUPLICATE KEY UPDATE nonce = IF(VALUES(epoch)"
                + " > epoch, VALUES(nonce), nonce), node = IF(VALUES(epoch) > epoch, VALUES(node),"
                + " node), before_epoch = IF(VALUES(epoch) > epoch, NULL, before_epoch),"
                + " before_nonce = IF(VALUES(epoch) > epoch, NULL, before_nonce), adopted_version ="
                + " IF(VALUES(epoch) > epoch, 0, adopted_version), state = IF(VALUES(epoch) >"
                + " epoch, 'open', state), opened_at = IF(VALUES(epoch) > epoch,"
                + " VALUES(opened_at), opened_at), epoch = GREATEST(epoch, VALUES(epoch))");
    for (Lost lost : sessions) {
      batch
          .bind(0, lost.owner.encoded())
          .bind(1, lost.session.epoch())
          .bind(2, lost.session.nonce())
          .bind(3, lost.node)
          .add();
    }
    return batch.execute();
  }

  @Override
  public boolean restore(OwnerId owner, SessionId session) {
    restore(List.of(new Lost(owner, session, "")));
    CountingSessions now = current(List.of(owner)).get(owner);
    return now != null && now.newest().equals(session);
  }

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
        (statement, at) -> {
          int next = at;
          for (NewlyOpen one : all) {
            statement.setString(next++, one.owner.encoded());
            statement.setLong(next++, one.adopted);
          }
          for (NewlyOpen one : all) {
            statement.setString(next++, one.owner.encoded());
            statement.setLong(next++, one.session.epoch());
            statement.setString(next++, one.session.nonce());
          }
          return next;
        },
        found -> found == sessions.size());
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
   * The sessions of owners whose newest was raised more than {@code millis} ago, by MySQL's clock:
   * one that is opening still has lost its node, and nobody has told Redis of it.
   */
  public Map<OwnerId, CountingSessions> raisedBefore(Collection<OwnerId> owners, long millis) {
    return sessions(
        owners, " AND opened_at < UTC_TIMESTAMP(3) - INTERVAL " + millis * 1_000 + " MICROSECOND");
  }

  /**
   * The highest version that the session which was open next took over from this one; 0 for none,
   * and if that is not known any more: of the last {@value #MOST_ADOPTIONS} sessions it is.
   */
  @Override
  public long adoptedFrom(OwnerId owner, SessionId session) {
    String adoptions =
        mysql.ask(
            handle ->
                handle
                    .select("SELECT adoptions FROM gameq_owner WHERE owner = ?", owner.encoded())
                    .mapTo(String.class)
                    .findOne()
                    .orElse(""));
    String from = session.epoch() + ":";
    for (String adoption : adoptions.split(" ", -1)) {
      if (adoption.startsWith(from)) {
        return Long.parseLong(adoption.substring(from.length()));
      }
    }
    return 0;
  }

  @Override
  public Map<OwnerId, CountingSessions> current(Collection<OwnerId> owners) {
    return sessions(owners, "");
  }

  /**
   * The sessions of an owner, and of whom it is.
   *
   * @param node that of the newest
   * @param openedAt when the newest was raised
   */
  public record Durable(CountingSessions sessions, String node, Instant openedAt) {}

  /** The same with nodes and times. */
  public Map<OwnerId, Durable> durable(Collection<OwnerId> owners) {
    return read(
        owners,
        "",
        rs ->
            new Durable(
                counting(rs),
                rs.getString(7),
                rs.getObject(8, LocalDateTime.class).toInstant(ZoneOffset.UTC)));
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
   */
  public static Map<OwnerId, CountingSessions> lock(
      Connection connection, Collection<OwnerId> owners, long term) throws SQLException {
    Map<String, OwnerId> sorted = new TreeMap<>();
    owners.forEach(owner -> sorted.put(owner.encoded(), owner));
    List<String> names = Sql.padded(List.copyOf(sorted.keySet()));
    String sql =
        "SELECT "
            + SESSION_COLUMNS
            + ", "
            + TermTable.NUMBER
            + " FROM gameq_owner WHERE owner IN ("
            + Sql.marks(names.size())
            + ") ORDER BY owner FOR UPDATE";
    Map<OwnerId, CountingSessions> sessions = new HashMap<>();
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      int unused = Sql.bindTexts(statement, 1, names);
      try (ResultSet rs = statement.executeQuery()) {
        while (rs.next()) {
          TermTable.requireCounts(term, rs.getLong(7));
          sessions.put(Objects.requireNonNull(sorted.get(rs.getString(1))), counting(rs));
        }
      }
    }
    return sessions;
  }

  /**
   * Adds owners that nobody has opened yet, with the epoch of no session, so that they can be
   * locked: an open may come at any moment.
   */
  public static void addNeverOpened(Connection connection, Collection<OwnerId> owners)
      throws SQLException {
    List<String> sorted = owners.stream().map(OwnerId::encoded).distinct().sorted().toList();
    if (sorted.isEmpty()) {
      return;
    }
    try (PreparedStatement statement =
        connection.prepareStatement(
            "INSERT INTO gameq_owner (owner, epoch, nonce, node, state, opened_at) VALUES (?, 0,"
                + " '0000000000000000', '', 'open', UTC_TIMESTAMP(3)) ON DUPLICATE KEY UPDATE epoch"
                + " = epoch")) {
      for (String owner : sorted) {
        statement.setString(1, owner);
        int unused = statement.executeUpdate();
      }
    }
  }

  /**
   * Ends the session of an owner that is locked: one that nobody has counts from the commit on.
   *
   * @param node says why, as operators read it in place of a node's name
   */
  public static void fence(Connection connection, OwnerId owner, SessionId session, String node)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "UPDATE gameq_owner SET epoch = ?, nonce = ?, node = ?, state = 'open', opened_at ="
                + " UTC_TIMESTAMP(3), before_epoch = NULL, before_nonce = NULL, adopted_version ="
                + " 0 WHERE owner = ?")) {
      statement.setLong(1, session.epoch());
      statement.setString(2, session.nonce());
      statement.setString(3, node);
      statement.setString(4, owner.encoded());
      statement.executeUpdate();
    }
  }

  /** Their names for an IN list, see {@link Sql#padded}. */
  static List<String> padded(Collection<OwnerId> owners) {
    return Sql.padded(owners.stream().map(OwnerId::encoded).distinct().toList());
  }

  /** Those that MySQL has, {@code locking} them or not. */
  static Set<OwnerId> read(Connection connection, Collection<OwnerId> owners, String locking)
      throws SQLException {
    Set<OwnerId> found = new HashSet<>();
    if (owners.isEmpty()) {
      return found;
    }
    List<String> names = padded(owners);
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT owner FROM gameq_owner WHERE owner IN ("
                + Sql.marks(names.size())
                + ")"
                + locking)) {
      int unused = Sql.bindTexts(statement, 1, names);
      try (ResultSet rs = statement.executeQuery()) {
        while (rs.next()) {
          found.add(OwnerId.ofEncoded(rs.getString(1)));
        }
      }
    }
    return found;
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
  static @Nullable SessionId lockOpen(Handle handle, OwnerId owner) {
    return handle
        .createQuery(
            "SELECT epoch, nonce FROM gameq_owner WHERE owner = ? AND state = 'open' FOR UPDATE")
        .bind(0, owner.encoded())
        .map((rs, ctx) -> new SessionId(rs.getLong(1), rs.getString(2)))
        .findOne()
        .orElse(null);
  }

  private Map<OwnerId, CountingSessions> sessions(Collection<OwnerId> owners, String condition) {
    return read(owners, condition, OwnerTable::counting);
  }

  /** Reads a row that begins with {@link #SESSION_COLUMNS}, then node and opened_at. */
  private interface RowReader<T> {
    T read(ResultSet rs) throws SQLException;
  }

  private <T> Map<OwnerId, T> read(
      Collection<OwnerId> owners, String condition, RowReader<T> reader) {
    Map<OwnerId, T> found = new HashMap<>();
    for (List<OwnerId> some : Sql.chunks(List.copyOf(owners), OWNERS_PER_STATEMENT)) {
      mysql.ask(
          handle -> {
            handle
                .createQuery(
                    "SELECT "
                        + SESSION_COLUMNS
                        + ", node, opened_at FROM gameq_owner WHERE owner IN (<owners>)"
                        + condition)
                .bindList("owners", some.stream().map(OwnerId::encoded).toList())
                .map((rs, ctx) -> Map.entry(OwnerId.ofEncoded(rs.getString(1)), reader.read(rs)))
                .forEach(e -> found.put(e.getKey(), e.getValue()));
            return found;
          });
    }
    return found;
  }

  /** Step 1 of open: raises the epochs of owners in {@code gameq_owner}. Thread-safe. */
  static final class RaisedSessions
      implements GroupedCalls.Server<RaisedSessions.Wanted, SessionId> {
    private static final int MOST_TRIES = 3;

    /** Before the session is overwritten: assignments run in order. */
    static final String KEEP_THE_LAST_OPEN =
        " before_epoch = IF(state = 'opening', before_epoch, epoch), before_nonce = IF(state ="
            + " 'opening', before_nonce, nonce),";

    private static final String NEW_ROW = "(?, GREATEST(1, ?), ?, ?, 'opening', UTC_TIMESTAMP(3))";

    private final Jdbi jdbi;

    RaisedSessions(Jdbi jdbi) {
      this.jdbi = jdbi;
    }

    /** A session that is to be raised; its epoch is at least {@code atLeast}. */
    record Wanted(OwnerId owner, String nonce, String node, long atLeast) {}

    @Override
    public SessionId one(Wanted wanted) {
      return raising(wanted.owner, handle -> raise(handle, List.of(wanted)).get(0));
    }

    /** In one transaction. */
    @Override
    public List<SessionId> many(List<Wanted> all) {
      return MySqlErrors.mysql(() -> jdbi.withHandle(handle -> raise(handle, all)));
    }

    /**
     * Raises an owner's epoch, again when others hold locks.
     *
     * @throws MySqlException when others lock the owner, too, naming who may
     */
    <T> T raising(OwnerId owner, HandleCallback<T, SQLException> call) {
      for (int tries = 1; ; tries++) {
        try {
          return MySqlErrors.mysql(() -> jdbi.withHandle(call));
        } catch (MySqlException e) {
          if (MySqlErrors.isLockWait(e)) { // who logs in waits no longer: MySQL's 1 s is up to 2
            throw new MySqlException(
                "%s is locked in MySQL, %s".formatted(owner, Locks.byWhom(jdbi)), e);
          }
          if (tries == MOST_TRIES || !MySqlErrors.isTryAgain(e)) {
            throw e;
          }
        }
      }
    }

    /** In one round trip; the owners are locked until the epochs that they got are read. */
    private static List<SessionId> raise(Handle handle, List<Wanted> all) throws SQLException {
      // In this order all lock owners, so that none wait in a circle.
      List<Wanted> sorted =
          all.stream().sorted(Comparator.comparing(one -> one.owner.encoded())).toList();
      List<String> names = OwnerTable.padded(all.stream().map(Wanted::owner).toList());
      Map<OwnerId, SessionId> raised = new HashMap<>();
      new Statements()
          .add("START TRANSACTION")
          .addUpdate(
              "INSERT INTO gameq_owner (owner, epoch, nonce, node, state, opened_at) VALUES "
                  + String.join(", ", Collections.nCopies(sorted.size(), NEW_ROW))
                  + " ON DUPLICATE KEY UPDATE"
                  + KEEP_THE_LAST_OPEN
                  + " epoch = GREATEST(epoch + 1, VALUES(epoch)), nonce = VALUES(nonce), node ="
                  + " VALUES(node), state = 'opening', opened_at = VALUES(opened_at)",
              (statement, at) -> bind(statement, at, sorted),
              count -> true)
          .addSelect(
              "SELECT owner, epoch, nonce FROM gameq_owner WHERE owner IN ("
                  + Sql.marks(names.size())
                  + ")",
              (statement, at) -> Sql.bindTexts(statement, at, names),
              rs -> {
                while (rs.next()) {
                  raised.put(
                      OwnerId.ofEncoded(rs.getString(1)),
                      new SessionId(rs.getLong(2), rs.getString(3)));
                }
                requireRaised(all, raised);
              })
          .runWithCommit(handle.getConnection());
      return all.stream().map(one -> raised(one, raised)).toList();
    }

    private static SessionId raised(Wanted wanted, Map<OwnerId, SessionId> raised) {
      return Objects.requireNonNull(raised.get(wanted.owner));
    }

    /** Else an owner was asked for twice in one group. */
    private static void requireRaised(List<Wanted> all, Map<OwnerId, SessionId> raised)
        throws SQLException {
      for (Wanted one : all) {
        SessionId session = raised.get(one.owner);
        if (session == null || !session.nonce().equals(one.nonce)) {
          throw new SQLException("MySQL did not tell the epoch of " + one.owner);
        }
      }
    }

    private static int bind(PreparedStatement statement, int at, List<Wanted> all)
        throws SQLException {
      int next = at;
      for (Wanted one : all) {
        statement.setString(next++, one.owner.encoded());
        statement.setLong(next++, one.atLeast);
        statement.setString(next++, one.nonce);
        statement.setString(next++, one.node);
      }
      return next;
    }
  }
}
