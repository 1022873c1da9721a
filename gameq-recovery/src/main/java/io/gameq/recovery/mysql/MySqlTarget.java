package io.gameq.recovery.mysql;

import io.gameq.LayoutException;
import io.gameq.MySqlException;
import io.gameq.agent.RateLimit;
import io.gameq.healing.WalReplay.ReplayReport;
import io.gameq.healing.WalReplay.ReplayTarget;
import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.ErrorKind.NotOwnerException;
import io.gameq.mysql.MySqlErrors.MySqlText;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.GuardedTransaction;
import io.gameq.mysql.flush.GuardedWrites;
import io.gameq.mysql.flush.GuardedWrites.HandledTwiceException;
import io.gameq.mysql.flush.RowBisection.RowRefusal;
import io.gameq.mysql.flush.RowBisection.StatementLimits;
import io.gameq.mysql.flush.RowBisection.TableRefusedException;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DurableRows;
import io.gameq.mysql.tables.HandoverTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.script.LookupScript.ReplayScript;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.HandledRow;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Puts lost rows straight into MySQL, when Redis is gone for good. Guarded as a flush is: the
 * sessions are locked and compared, an older version changes nothing, a deleted row stays deleted,
 * and a refused row is set aside as a dead letter. One thread; killed anywhere, a group is written
 * as a whole or not at all.
 *
 * <p>A row that is refused because of another row (foreign key, unique value) waits until
 * everything else was written, and is tried again as long as that helps; then it is set aside. A
 * table that takes no rows is left out, and so are refused rows that refer to it: they stay lost
 * until it is mended and the replay runs again. So does what waits when the process is killed.
 */
public final class MySqlTarget implements ReplayTarget {
  /** As many rows as a writer flushes at a time. */
  private static final int ROWS_PER_TRANSACTION = 1_000;

  /** What waits is in memory; beyond this it is tried again, and set aside, at once. */
  private static final long MOST_WAITING_BYTES = 64 << 20;

  /** Each pass cures one link of a chain of rows at least; longer chains are set aside. */
  private static final int MOST_PASSES = 50;

  private static final int MOST_TRIES = 10;

  /** As many as a writer sets aside by default. */
  private static final int MOST_DEAD_LETTERS = 100_000;

  private final MySql mysql;
  private final GuardedWrites writes;
  private final DurableRows durable;
  private final RowCodec codec;
  private final RateLimit limit;
  private final Map<Table, String> closed = new LinkedHashMap<>();
  private List<OwnerBatch> waiting = new ArrayList<>();
  private long waitingBytes;

  MySqlTarget(MySql mysql, DurableRows durable, RowCodec codec, RateLimit limit) {
    this.mysql = mysql;
    this.writes = GuardedWrites.on(mysql);
    this.durable = durable;
    this.codec = codec;
    this.limit = limit;
  }

  /** All that one owner gets back, and the session that owns by what was read before. */
  private record OwnerBatch(OwnerId owner, SessionId session, List<RowChange> rows) {
    OwnerBatch with(List<RowChange> some) {
      return new OwnerBatch(owner, session, some);
    }
  }

  private static long rows(List<OwnerBatch> owners) {
    return owners.stream().mapToLong(of -> of.rows.size()).sum();
  }

  /**
   * Writes groups of owners, each owner in one transaction.
   *
   * @throws MySqlException when MySQL does not answer; then nothing of a transaction was written,
   *     or a COMMIT was lost: writing again is safe
   */
  @Override
  public void write(List<List<ReplayScript.Owner>> groups, ReplayReport report) {
    List<OwnerBatch> owners = new ArrayList<>();
    for (List<ReplayScript.Owner> group : groups) {
      for (ReplayScript.Owner of : group) {
        owners.add(new OwnerBatch(of.owner(), of.session(), changes(of, report)));
      }
    }
    writeAll(owners, report, RowRefusal::isCurable);
    if (waitingBytes > MOST_WAITING_BYTES) {
      finish(report);
    }
  }

  /** Rows that are written; one with a value for a column that is gone stays lost. */
  private List<RowChange> changes(ReplayScript.Owner of, ReplayReport report) {
    List<RowChange> changes = new ArrayList<>(of.rows().size());
    long readNanos = System.nanoTime();
    for (EncodedRow row : of.rows()) {
      try {
        RowImage image = durable.decodeToWrite(codec, row.key(), row.image(), readNanos);
        changes.add(
            new RowChange(of.owner(), new RowKey(image.table(), row.key()), image, row.image()));
      } catch (LayoutException e) {
        report.refused(of.owner(), 1, String.valueOf(e.getMessage()));
      }
    }
    return changes;
  }

  @Override
  public void finish(ReplayReport report) {
    long before = Long.MAX_VALUE;
    for (int pass = 0; pass < MOST_PASSES && !waiting.isEmpty() && rows(waiting) < before; pass++) {
      before = rows(waiting);
      writeAll(takeWaiting(), report, RowRefusal::isCurable);
    }
    writeAll(takeWaiting(), report, this::waitsForTable);
    for (OwnerBatch of : takeWaiting()) {
      report.refused(
          of.owner, of.rows.size(), "refused for want of rows of a table that takes none now");
    }
  }

  private List<OwnerBatch> takeWaiting() {
    List<OwnerBatch> taken = waiting;
    waiting = new ArrayList<>();
    waitingBytes = 0;
    return taken;
  }

  /** Whether a table that takes no rows may be why: then nobody can tell what becomes of it. */
  private boolean waitsForTable(RowRefusal refusal) {
    Table table = refusal.row().key().table();
    return refusal.isCurable()
        && closed.keySet().stream()
            .anyMatch(
                of ->
                    table.foreignKeys().parents().contains(of.name())
                        || of.foreignKeys().parents().contains(table.name()));
  }

  /** {@code waits}: which refused rows are tried again later; the others are set aside. */
  private void writeAll(List<OwnerBatch> owners, ReplayReport report, Predicate<RowRefusal> waits) {
    List<OwnerBatch> next = new ArrayList<>();
    for (OwnerBatch of : owners) {
      next.add(of);
      if (rows(next) >= limit.burst(ROWS_PER_TRANSACTION)) {
        write(next, report, waits);
        next.clear();
      }
    }
    write(next, report, waits);
  }

  private void write(List<OwnerBatch> group, ReplayReport report, Predicate<RowRefusal> waits) {
    while (true) {
      List<OwnerBatch> open = withoutClosed(group, report);
      if (open.isEmpty()) {
        return;
      }
      limit.take(rows(open));
      GroupWrite write = new GroupWrite(open, waits);
      try {
        note(GuardedTransaction.run(mysql, writes, write::isDue, write::prepare, write), report);
        return;
      } catch (TableRefusedException e) { // nothing was written
        closed.put(e.table(), MySqlText.of(e));
        group = open;
      } catch (SQLException e) {
        throw new MySqlException("MySQL does not answer as it should: " + MySqlText.of(e), e);
      }
    }
  }

  private List<OwnerBatch> withoutClosed(List<OwnerBatch> group, ReplayReport report) {
    List<OwnerBatch> open = new ArrayList<>();
    for (OwnerBatch of : group) {
      List<RowChange> rows = new ArrayList<>();
      for (RowChange row : of.rows) {
        String why = closed.get(row.key().table());
        if (why == null) {
          rows.add(row);
        } else {
          report.closed(row.key().table().name(), why);
        }
      }
      if (!rows.isEmpty()) {
        open.add(of.with(rows));
      }
    }
    return open;
  }

  private void note(GroupWrite of, ReplayReport report) {
    report.wrote(of.written, of.written);
    for (Refused letter : of.letters.keySet()) {
      String row = letter.table() + ":" + letter.rowKey() + " of " + letter.owner().id();
      report.setAside(row, letter.errorText());
    }
    for (OwnerBatch owner : of.group) {
      OwnerId id = owner.owner;
      int rows = owner.rows.size();
      if (of.notOwned.contains(id)) {
        report.overtaken(
            id,
            rows,
            id.isInbox() ? ReplayReport.COMMITTED_WITH_REFUSED : "another session owns by now");
      }
      String heldBack = of.heldBack.get(id);
      if (heldBack != null) {
        report.refused(id, rows, heldBack);
      }
      if (of.handledTwice.contains(id)) {
        report.refused(
            id,
            rows,
            "another handler of a message that these rows were changed for was written before");
      }
      List<RowChange> its = of.waiting.stream().filter(row -> row.owner().equals(id)).toList();
      if (!its.isEmpty()) {
        waiting.add(owner.with(its));
        its.forEach(row -> waitingBytes += row.encoded().length + row.key().text().length());
      }
    }
  }

  /** A group of owners in one transaction, tried until it is committed. */
  private static final class GroupWrite implements GuardedTransaction.Body<GroupWrite> {
    private final List<OwnerBatch> group;
    private final Predicate<RowRefusal> waits;
    private final GuardedTransaction.Retry conflicts =
        GuardedTransaction.Retry.ofConflicts(MOST_TRIES);

    /**
     * Owners whose rows were changed by the second handler of a message: their sessions are ended,
     * as a flush would.
     */
    private final Set<OwnerId> handledTwice = new HashSet<>();

    /** The same of rows that it sent: they are dead letters then. */
    private final List<RowChange> sentTwice = new ArrayList<>();

    /**
     * Owners with a refused row that cannot be set aside, as there are too many dead letters, and
     * why; nothing of them is written, nor of inboxes of the group.
     */
    private final Map<OwnerId, String> heldBack = new HashMap<>();

    /** Owners that another session took over, and then the inboxes of the group. */
    private final Set<OwnerId> notOwned = new HashSet<>();

    private final Map<Refused, OwnerId> letters = new LinkedHashMap<>();
    private final List<RowChange> waiting = new ArrayList<>();
    private long written; // MySQL holds them in these versions or newer ones

    GroupWrite(List<OwnerBatch> group, Predicate<RowRefusal> waits) {
      this.group = group;
      this.waits = waits;
    }

    /**
     * One session after the other: which handler's rows count of a message may be another one
     * without it. Inboxes last.
     */
    boolean isDue(SQLException failure, int met) {
      if (!(failure instanceof HandledTwiceException twice)) {
        return conflicts.isDue(failure, met);
      }
      for (RowChange refused : twice.refused()) {
        if (!refused.owner().isInbox()) {
          return handledTwice.add(refused.owner());
        }
      }
      return sentTwice.addAll(twice.refused());
    }

    void prepare() {
      notOwned.clear();
      letters.clear();
      waiting.clear();
    }

    @Override
    public @Nullable GroupWrite attempt(GuardedTransaction transaction) throws SQLException {
      transaction.lock(
          Stream.concat(
                  group.stream().map(OwnerBatch::owner),
                  group.stream().flatMap(of -> GuardedWrites.others(of.rows).stream()))
              .toList());
      List<RowRefusal> aside = new ArrayList<>();
      List<RowChange> rows = rows(transaction, aside);
      List<RowRefusal> refusals =
          RowRefusal.withoutOutdated(
              transaction.connection(),
              transaction.write(
                  rows, Set.of(ErrorKind.ROW, ErrorKind.CURABLE), StatementLimits.NONE));
      for (RowRefusal refusal : refusals) {
        if (!waits.test(refusal)) {
          letters.put(refusal.asLetter(1), refusal.row().owner());
          continue;
        }
        RowChange row = refusal.row();
        waiting.add(row);
        if (refusal.error() instanceof NotOwnerException) {
          HandoverTable.write(transaction.connection(), session(row.owner()), row);
        }
      }
      RowRefusal.withoutOutdated(transaction.connection(), aside)
          .forEach(refusal -> letters.put(refusal.asLetter(1), refusal.row().owner()));
      Map<Refused, String> failed =
          DeadLetterTable.write(
              transaction.connection(), List.copyOf(letters.keySet()), MOST_DEAD_LETTERS);
      if (!failed.isEmpty()) {
        failed.forEach(
            (letter, why) ->
                heldBack.put(
                    Objects.requireNonNull(letters.get(letter)),
                    letter.errorText() + "; and " + why));
        return null; // once more, without these
      }
      transaction.commit();
      written = (long) rows.size() - refusals.size();
      return this;
    }

    /** What is written of owners whose sessions count; {@code aside} gets what is to be refused. */
    private List<RowChange> rows(GuardedTransaction transaction, List<RowRefusal> aside)
        throws SQLException {
      boolean allCount =
          heldBack.isEmpty()
              && group.stream().allMatch(of -> transaction.counts(of.owner, of.session));
      List<RowChange> rows = new ArrayList<>();
      for (OwnerBatch of : group) {
        boolean counts = transaction.counts(of.owner, of.session);
        if (heldBack.containsKey(of.owner)) {
          continue;
        }
        if (handledTwice.contains(of.owner)) {
          if (!of.owner.isInbox() && counts) {
            SessionId unused = transaction.fence(of.owner);
          }
        } else if (!counts || (!allCount && of.owner.isInbox())) {
          notOwned.add(
              of.owner); // rows may have been sent together with those that are not written
        } else {
          for (RowChange row : of.rows) {
            if (!isSentTwice(row)) {
              rows.add(row);
            } else if (!HandledRow.is(row.key())) {
              aside.add(new RowRefusal(row, new HandledTwiceException(sentTwice)));
            }
          }
        }
      }
      return rows;
    }

    /** Whether a row was committed with one of these, into the same inbox. */
    private boolean isSentTwice(RowChange row) {
      return sentTwice.stream()
          .anyMatch(
              refused ->
                  refused.owner().equals(row.owner())
                      && refused.image().version() == row.image().version());
    }

    private SessionId session(OwnerId owner) {
      return group.stream()
          .filter(of -> of.owner.equals(owner))
          .map(OwnerBatch::session)
          .findFirst()
          .orElseThrow();
    }
  }
}
