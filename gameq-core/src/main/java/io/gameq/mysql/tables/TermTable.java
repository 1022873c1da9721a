package io.gameq.mysql.tables;

import io.gameq.mysql.MySqlErrors;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.mysql.Statements;
import io.gameq.mysql.schema.Settings;
import io.gameq.sign.Protocol;
import io.gameq.term.Term;
import io.gameq.term.Term.Primary;
import io.gameq.term.Term.TermMovedException;
import io.gameq.term.Terms;
import io.gameq.term.Terms.QueueIdentity;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** The Redis term in {@code gameq_redis_term}. Thread-safe. */
public final class TermTable implements Terms {
  /** For the first statement of a flush: read without a lock, see {@link io.gameq.term}. */
  static final String NUMBER = "(SELECT number FROM gameq_redis_term WHERE id = 1)";

  private static final int ANY_SLOTS = 0;

  /** After a failover all open their owners again, and each of these locks the row meanwhile. */
  private static final int MOST_MOVES = 10;

  private final MySql mysql;
  private final int slots;
  private volatile Protocol protocol = Protocol.FIRST;

  /** For who works with whatever number of slots the database has. */
  public TermTable(MySql mysql) {
    this(mysql, ANY_SLOTS);
  }

  /** For a process that was started with a number of slots. */
  public TermTable(MySql mysql, int slots) {
    this.mysql = mysql;
    this.slots = slots;
  }

  @Override
  public void requireAgreed() {
    if (slots != ANY_SLOTS) {
      Settings.requireSlots(mysql, slots);
    }
  }

  @Override
  public QueueIdentity identity() {
    return Settings.identity(mysql);
  }

  @Override
  public Term current() {
    List<Term> found =
        mysql.list(
            "SELECT number, run_id, repl_id, address, sentinel_epoch, former_run_id,"
                + " TIMESTAMPDIFF(MICROSECOND, seen_at, UTC_TIMESTAMP(3)) DIV 1000, "
                + Settings.PROTOCOL
                + " FROM gameq_redis_term WHERE id = 1",
            rs -> {
              protocol = Settings.spoken(rs.getString(8));
              return new Term(
                  rs.getLong(1),
                  rs.getString(2),
                  rs.getString(3),
                  rs.getString(4),
                  rs.getLong(5),
                  rs.getString(6),
                  rs.getLong(7));
            });
    return found.isEmpty() ? Term.NONE : found.get(0);
  }

  @Override
  public Protocol protocol() {
    return protocol;
  }

  @Override
  public boolean moveOn(Term from, Primary to) {
    return MySqlErrors.mysqlAgain(
        MOST_MOVES,
        () ->
            mysql.ask(
                handle ->
                    from.number() == 0
                        ? begin(handle.getConnection(), to)
                        : moveOn(handle.getConnection(), from, to)));
  }

  private static boolean begin(Connection connection, Primary first) throws SQLException {
    return Sql.execute(
            connection,
            "INSERT IGNORE INTO gameq_redis_term (id, number, run_id, repl_id, address,"
                + " sentinel_epoch, former_run_id, former_repl_id, began_at, seen_at) VALUES (1, 1,"
                + " ?, ?, ?, ?, '', '', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))",
            first.runId(),
            first.replId(),
            first.address(),
            first.sentinelEpoch())
        == 1;
  }

  private static boolean moveOn(Connection connection, Term from, Primary to) throws SQLException {
    return Sql.execute(
            connection,
            "UPDATE gameq_redis_term SET number = number + 1, former_run_id = ?,"
                + " former_repl_id = repl_id, run_id = ?, repl_id = ?, address = ?, sentinel_epoch"
                + " = IF(? < 0, sentinel_epoch, ?), began_at = UTC_TIMESTAMP(3), seen_at ="
                + " UTC_TIMESTAMP(3) WHERE id = 1 AND number = ? AND repl_id = ?",
            from.formersWithThis(),
            to.runId(),
            to.replId(),
            to.address(),
            to.sentinelEpoch(),
            to.sentinelEpoch(),
            from.number(),
            from.replId())
        == 1;
  }

  @Override
  public void alive(Term of, Primary seen) {
    String addresses = // what Sentinel says outranks what processes were given
        seen.sentinelEpoch() == Primary.NO_SENTINEL
            ? of.sentinelEpoch() == Primary.NO_SENTINEL
                ? of.addressesWith(seen.address())
                : of.address()
            : seen.address();
    mysql.execute(
        "UPDATE gameq_redis_term SET seen_at = UTC_TIMESTAMP(3), repl_id = ?, address = ?,"
            + " sentinel_epoch = GREATEST(sentinel_epoch, ?) WHERE id = 1 AND number = ?",
        seen.replId(),
        addresses,
        seen.sentinelEpoch(),
        of.number());
  }

  /**
   * Adds what holds the term for the rest of a transaction, so that nobody goes over before it is
   * committed: its last statement, since meanwhile nobody can go over at all. When another number
   * counts, {@link Statements#run} throws a {@link TermMovedException}.
   */
  static void addHold(Statements to, long number) {
    if (number != Term.NOT_KNOWN) {
      to.addSelectOne(
          "SELECT number FROM gameq_redis_term WHERE id = 1 LOCK IN SHARE MODE",
          rs -> requireCounts(number, rs.getLong(1)));
    }
  }

  static void requireCounts(long number, long current) {
    if (!Term.counts(number, current)) {
      throw new TermMovedException(
          ("another Redis primary counts, as number %s: what came by way of number %s is not"
                  + " written")
              .formatted(current, number));
    }
  }
}
