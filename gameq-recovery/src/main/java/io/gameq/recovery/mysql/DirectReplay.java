package io.gameq.recovery.mysql;

import io.gameq.MySqlException;
import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.ErrorKind.NotOwnerException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlText;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.GuardedTransaction;
import io.gameq.mysql.flush.GuardedWrites;
import io.gameq.mysql.flush.GuardedWrites.HandledTwiceException;
import io.gameq.mysql.flush.GuardedWrites.RowRefusal;
import io.gameq.mysql.flush.GuardedWrites.StatementLimits;
import io.gameq.mysql.flush.GuardedWrites.TableRefusedException;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.HandoverTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.HandledRow;
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
 * Lost rows straight into MySQL, guarded as a flush is: the sessions are locked and compared, an
 * older version changes nothing, a deleted row stays deleted, and a refused row is set aside as a
 * dead letter. Thread-safe; killed anywhere, a group is written as a whole or not at all.
 */
public final class DirectReplay {
  private static final int MOST_TRIES = 10;

  /** As many as a writer sets aside by default. */
  private static final int MOST_DEAD_LETTERS = 100_000;

  private final MySql mysql;
  private final GuardedWrites writes;

  DirectReplay(MySql mysql) {
    this.mysql = mysql;
    this.writes = GuardedWrites.on(mysql);
  }

  /** All that one owner gets back, and the session that owns by what was read before. */
  public record Owner(OwnerId owner, SessionId session, List<RowChange> rows) {}

  /** What became of a group. */
  public sealed interface Outcome {}

  /**
   * It was committed.
   *
   * @param rows that MySQL holds now in these versions or newer ones
   * @param setAside rows that it refused, and those that the second handler of a message sent, as
   *     dead letters now
   * @param waiting rows that it refused, and that are not written: see {@link #write}
   * @param notOwned owners that another session took over, and then the inboxes of the group;
   *     nothing of them was written
   * @param heldBack owners with a refused row that cannot be set aside, as there are too many dead
   *     letters, and why; nothing of them was written, nor of inboxes of the group
   * @param handledTwice the same of owners whose rows were changed by the second handler of a
   *     message: their sessions are ended, as a flush would
   */
  public record Written(
      long rows,
      List<Refused> setAside,
      List<RowChange> waiting,
      List<OwnerId> notOwned,
      Map<OwnerId, String> heldBack,
      List<OwnerId> handledTwice)
      implements Outcome {}

  /**
   * A table takes no rows, since it or a column is missing or closed to us: nothing was written.
   */
  public record TableRefused(Table table, String reason) implements Outcome {}

  /**
   * Writes a group of owners in one transaction.
   *
   * @param waits which refused rows are to be tried again later; the others are set aside
   * @throws MySqlException when MySQL does not answer; then nothing was written, or a COMMIT was
   *     lost: writing again is safe
   */
  public Outcome write(List<Owner> group, Predicate<RowRefusal> waits) {
    Set<OwnerId> second = new HashSet<>();
    Map<OwnerId, String> heldBack = new HashMap<>();
    List<RowChange> sentTwice = new ArrayList<>();
    GuardedTransaction.Retry conflicts = GuardedTransaction.Retry.ofConflicts(MOST_TRIES);
    try {
      return GuardedTransaction.run(
          mysql,
          writes,
          (e, met) ->
              e instanceof HandledTwiceException twice
                  ? refuse(twice, second, sentTwice)
                  : conflicts.isDue(e, met),
          () -> {},
          transaction -> write(transaction, group, second, heldBack, sentTwice, waits));
    } catch (TableRefusedException e) {
      return new TableRefused(e.table(), MySqlText.of(e));
    } catch (SQLException e) {
      throw new MySqlException("MySQL does not answer as it should: " + MySqlText.of(e), e);
    }
  }

  /**
   * One session after the other: which handler's rows count of a message may be another one without
   * it. Inboxes last.
   */
  private static boolean refuse(
      HandledTwiceException twice, Set<OwnerId> second, List<RowChange> sentTwice) {
    for (RowChange refused : twice.refused()) {
      if (!refused.owner().isInbox()) {
        return second.add(refused.owner());
      }
    }
    return sentTwice.addAll(twice.refused());
  }

  /** Whether a row was committed with one of these, into the same inbox. */
  private static boolean isSentWith(RowChange row, List<RowChange> sentTwice) {
    return sentTwice.stream()
        .anyMatch(
            refused ->
                refused.owner().equals(row.owner())
                    && refused.image().version() == row.image().version());
  }

  private static @Nullable Written write(
      GuardedTransaction transaction,
      List<Owner> group,
      Set<OwnerId> second,
      Map<OwnerId, String> heldBack,
      List<RowChange> sentTwice,
      Predicate<RowRefusal> waits)
      throws SQLException {
    transaction.lock(
        Stream.concat(
                group.stream().map(Owner::owner),
                group.stream().flatMap(of -> GuardedWrites.others(of.rows()).stream()))
            .toList());
    List<OwnerId> notOwned = new ArrayList<>();
    List<RowChange> rows = new ArrayList<>();
    List<RowRefusal> aside = new ArrayList<>();
    boolean allCount =
        heldBack.isEmpty()
            && group.stream().allMatch(of -> transaction.counts(of.owner(), of.session()));
    for (Owner of : group) {
      if (heldBack.containsKey(of.owner())) {
        continue;
      }
      if (second.contains(of.owner())) {
        if (!of.owner().isInbox() && transaction.counts(of.owner(), of.session())) {
          SessionId unused = transaction.fence(of.owner());
        }
        continue;
      }
      // Rows may have been sent together with those that are not written.
      if (transaction.counts(of.owner(), of.session()) && (allCount || !of.owner().isInbox())) {
        for (RowChange row : of.rows()) {
          if (!isSentWith(row, sentTwice)) {
            rows.add(row);
          } else if (!HandledRow.is(row.key())) {
            aside.add(new RowRefusal(row, new HandledTwiceException(sentTwice)));
          }
        }
      } else {
        notOwned.add(of.owner());
      }
    }
    List<RowRefusal> refusals =
        RowRefusal.withoutOutdated(
            transaction.connection(),
            transaction.write(
                rows, Set.of(ErrorKind.ROW, ErrorKind.CURABLE), StatementLimits.NONE));
    List<RowChange> waiting = refusals.stream().filter(waits).map(RowRefusal::row).toList();
    Map<Refused, OwnerId> letters = new LinkedHashMap<>();
    Stream.concat(
            refusals.stream().filter(waits.negate()),
            RowRefusal.withoutOutdated(transaction.connection(), aside).stream())
        .forEach(refusal -> letters.put(refusal.asLetter(1), refusal.row().owner()));
    for (RowRefusal refusal : refusals) {
      if (waits.test(refusal) && refusal.error() instanceof NotOwnerException) {
        RowChange row = refusal.row();
        HandoverTable.write(transaction.connection(), sessionOf(group, row), row);
      }
    }
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
    return new Written(
        rows.size() - refusals.size(),
        List.copyOf(letters.keySet()),
        waiting,
        notOwned,
        Map.copyOf(heldBack),
        List.copyOf(second));
  }

  private static SessionId sessionOf(List<Owner> group, RowChange row) {
    return group.stream()
        .filter(of -> of.owner().equals(row.owner()))
        .map(Owner::session)
        .findFirst()
        .orElseThrow();
  }
}
