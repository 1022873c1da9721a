package io.gameq.mysql.flush;

import io.gameq.change.VersionClock;
import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.ErrorKind.NotOwnerException;
import io.gameq.mysql.MySqlErrors.MySqlText;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.GuardedWrites.HandledTwiceException;
import io.gameq.mysql.flush.RowBisection.RowRefusal;
import io.gameq.mysql.flush.RowBisection.StatementLimits;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.HandoverTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.HandledRow;
import io.gameq.rows.Table;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What the next try of a flush is to do: which owners it writes, which rows it leaves out, in what
 * statements. Learns from the try before. Used by one thread.
 */
public final class FlushPlan {
  /** So long a slow row is tried when nobody else is written that it could be compared with. */
  private static final long ALONE_MILLIS = TimeUnit.MINUTES.toMillis(10);

  /** A statement of 512 rows takes some tens of milliseconds. */
  private static final StatementLimits LIMITS = new StatementLimits(512, 4 << 20, 2, 2);

  /** Also over a link that takes seconds for a large statement. */
  private static final StatementLimits LIMITS_APART = new StatementLimits(64, 256 << 10, 2, 2);

  /** A row of an owner out of patience that waits for halves of these others. */
  private record Undecided(RowChange row, SessionId session, Set<OwnerId> awaited) {}

  final long term;
  final List<OwnerRows> owners;
  private final Patience patience;
  private final BooleanSupplier wroteLately;
  private final Predicate<Table> wroteInto;
  final List<HeldBack> heldBack = new ArrayList<>();

  /**
   * Rows that are kept, and those of owners held back, whose handovers the other owner's flush may
   * have to know of: also those that were not refused, else two owners that wait for each other,
   * each for another row, wait for ever.
   */
  private final Map<RowChange, SessionId> pending = new HashMap<>();

  private final List<Undecided> undecided = new ArrayList<>();
  private final Set<RowChange> kept = new HashSet<>();
  private final Set<RowChange> inVain = new HashSet<>();

  /** Owners with rows of messages of which another handler's rows count: those that say so. */
  private final Map<OwnerId, List<RowChange>> second = new HashMap<>();

  /**
   * Those of them that have the rows of both handlers: each row has one image, so that neither's
   * can be told from the other's, and nothing of them can be written.
   */
  private final Set<OwnerId> both = new HashSet<>();

  /** Owners that are tried again though they were second: once each, so that no plan is endless. */
  private final Set<OwnerId> takenAgain = new HashSet<>();

  /** Rows that only say which message others were sent for, when these are set aside. */
  private final Set<RowChange> dropped = new HashSet<>();

  /** Rows to set aside without trying them again. */
  final List<RowRefusal> slow = new ArrayList<>();

  final boolean isLastResort;
  final Set<ErrorKind> kinds;
  StatementLimits limits;

  /**
   * The plan of the first try.
   *
   * @param isApart of a single owner that may hold up others
   * @param wroteLately whether others were written so lately that MySQL is not slow as a whole
   * @param wroteInto whether rows of a table were
   */
  FlushPlan(
      long term,
      List<OwnerRows> owners,
      boolean isApart,
      Patience patience,
      BooleanSupplier wroteLately,
      Predicate<Table> wroteInto) {
    this.term = term;
    this.owners = new ArrayList<>(owners);
    this.patience = patience;
    this.wroteLately = wroteLately;
    this.wroteInto = wroteInto;
    this.isLastResort = owners.size() == 1 && isOutOfPatience(owners.get(0));
    this.kinds = EnumSet.of(ErrorKind.ROW, ErrorKind.CURABLE, ErrorKind.SCHEMA);
    if (isApart) {
      kinds.add(ErrorKind.SLOW);
    }
    if (isLastResort) {
      kinds.add(ErrorKind.UNKNOWN);
    }
    this.limits = isApart ? LIMITS_APART : LIMITS;
    if (isApart && isLastResort) {
      this.limits = LIMITS_APART.withSecondsOfOneRow(patience.rowSeconds());
    }
  }

  /** Whether there is nothing to write, nor to note. */
  boolean isEmpty() {
    return owners.isEmpty() && pending.isEmpty();
  }

  /** Whether rows that take MySQL long may be given up now. */
  boolean mayBeSetAsideAsSlow() {
    return isLastResort && isSlowByItself(owners.get(0));
  }

  /** Whether the next try is one with smaller statements: MySQL may be slow as a whole. */
  boolean takesSmallerStatements() {
    boolean wereLarger =
        limits.rows() > LIMITS_APART.rows()
            && (rows().count() > LIMITS_APART.rows()
                || rows().mapToLong(row -> row.encoded().length).sum() > LIMITS_APART.bytes());
    limits = LIMITS_APART;
    return wereLarger;
  }

  /**
   * Each slow row costs seconds: the next try sets those aside that were found, and keeps what else
   * their tables have, with the tables that these refer to or that refer to them.
   */
  void setAsideAlone(List<RowRefusal> rows) {
    slow.addAll(rows);
    Set<Table> tied = tiedToSlow();
    for (OwnerRows of : owners) {
      of.rows().stream()
          .filter(row -> tied.contains(row.key().table()))
          .forEach(row -> keep(row, of.session()));
    }
    slow.forEach(refusal -> kept.remove(refusal.row()));
  }

  /** All rows of the owners that are not left out. */
  Stream<RowChange> rows() {
    return owners.stream().flatMap(of -> of.rows().stream());
  }

  private Set<Table> tiedToSlow() {
    Set<Table> others = rows().map(row -> row.key().table()).collect(Collectors.toSet());
    Set<Table> tied = new HashSet<>();
    Deque<Table> next = new ArrayDeque<>();
    slow.forEach(refusal -> next.add(refusal.row().key().table()));
    while (!next.isEmpty()) {
      Table one = next.remove();
      tied.add(one);
      others.remove(one);
      others.stream().filter(other -> areTied(one, other)).forEach(next::add);
    }
    return tied;
  }

  /** One table may be there twice, as it was before it was altered and after. */
  private static boolean areTied(Table one, Table other) {
    return one.name().equals(other.name())
        || one.foreignKeys().parents().contains(other.name())
        || other.foreignKeys().parents().contains(one.name());
  }

  private void keep(RowChange row, SessionId session) {
    kept.add(row);
    note(row, session);
  }

  private void note(RowChange row, SessionId session) {
    if (!row.image().handovers().isEmpty()) {
      pending.put(row, session);
    }
  }

  /** Leaves an owner out of the next try; false when it is left out already. */
  boolean holdBack(OwnerRows of, String reason) {
    boolean was = owners.removeIf(owner -> owner.owner().equals(of.owner()));
    if (was) {
      heldBack.add(new HeldBack(of, reason));
      of.rows().forEach(row -> note(row, of.session()));
    }
    return was;
  }

  /**
   * Another handler's rows count. The next try ends the sessions: what they committed since builds
   * on rows that are refused, and without what came before a commit would be written in part. Of an
   * inbox, in which nothing builds on anything, what came with these is set aside. An owner that is
   * second once more, after it was taken again, is held back.
   */
  void refuse(HandledTwiceException handledTwice) {
    for (RowChange refused : handledTwice.refused()) {
      for (OwnerRows of : List.copyOf(owners)) {
        if (of.owner().equals(refused.owner())) {
          refuse(of, refused, handledTwice);
        }
      }
    }
  }

  private void refuse(OwnerRows of, RowChange refused, HandledTwiceException handledTwice) {
    if (of.owner().isInbox()) {
      setAsideSent(of, refused, handledTwice);
    } else if (takenAgain.contains(of.owner())) {
      holdBack(of, MySqlText.of(handledTwice));
    } else {
      second.computeIfAbsent(of.owner(), owner -> new ArrayList<>()).add(refused);
      if (of.rows().stream()
          .anyMatch(row -> !row.key().equals(refused.key()) && isOfSameMessage(row, refused))) {
        both.add(of.owner());
      }
    }
  }

  private static boolean isOfSameMessage(RowChange row, RowChange handled) {
    return HandledRow.is(row.key())
        && HandledRow.handling(row.key().text()).equals(HandledRow.handling(handled.key().text()));
  }

  private void setAsideSent(OwnerRows of, RowChange refused, HandledTwiceException handledTwice) {
    if (dropped.contains(refused)) {
      return; // with another message of its commit
    }
    for (RowChange row : of.rows()) {
      if (row.image().version() == refused.image().version()) {
        if (HandledRow.is(row.key())) {
          dropped.add(row);
        } else {
          slow.add(new RowRefusal(row, handledTwice));
        }
      }
    }
  }

  /** What tells that another handler's rows count; empty when nothing does. */
  List<RowChange> refusedOf(OwnerId owner) {
    return second.getOrDefault(owner, List.of());
  }

  /** Whether it has the rows of both handlers. */
  boolean hasBoth(OwnerId owner) {
    return both.contains(owner);
  }

  /** The other handler's rows have not been written after all. */
  void takeAgain(OwnerId owner) {
    second.remove(owner);
    takenAgain.add(owner);
  }

  /** All whose sessions are to be locked; see {@link GuardedTransaction#lock}. */
  List<OwnerId> concerned() {
    Set<OwnerId> all = new LinkedHashSet<>();
    for (OwnerRows of : owners) {
      all.add(of.owner());
      all.addAll(GuardedWrites.others(of.rows()));
    }
    pending.keySet().forEach(row -> all.add(row.owner()));
    return List.copyOf(all);
  }

  /** Notes what owners held back know of handovers, if their sessions are still the newest. */
  void notePending(GuardedTransaction transaction) throws SQLException {
    for (Map.Entry<RowChange, SessionId> of : pending.entrySet()) {
      if (transaction.counts(of.getKey().owner(), of.getValue())) {
        HandoverTable.write(transaction.connection(), of.getValue(), of.getKey());
      }
    }
  }

  /** Decides whether rows that wait for other halves go on to do so. */
  void decide(Halves halves) {
    for (Undecided of : undecided) {
      RowChange row = of.row();
      long waited = System.currentTimeMillis() - VersionClock.millis(row.image().version());
      if (waited < patience.halfMillis() && halves.mayCome(row.key(), of.awaited())) {
        keep(row, of.session());
      } else {
        inVain.add(row);
      }
    }
    undecided.clear();
  }

  /** The rows of an owner to write: without those that are kept, whose handovers are noted. */
  List<RowChange> rowsToWrite(OwnerRows of) {
    if (kept.isEmpty() && dropped.isEmpty() && slow.isEmpty()) { // nearly always
      return of.rows();
    }
    Set<RowChange> aside = slow.stream().map(RowRefusal::row).collect(Collectors.toSet());
    return of.rows().stream()
        .filter(row -> !kept.contains(row) && !dropped.contains(row) && !aside.contains(row))
        .toList();
  }

  Written written(OwnerRows of, List<RowRefusal> ofAll) {
    List<Refused> setAside = new ArrayList<>(of.unreadable());
    for (RowRefusal refusal : ofAll) {
      if (refusal.row().owner().equals(of.owner())) {
        setAside.add(refusal.asLetter(of.attempts()));
      }
    }
    return new Written(of, setAside, of.rows().stream().filter(kept::contains).toList());
  }

  /** Whether refusals call for another try, without some owners or some rows. */
  boolean changesFor(Map<OwnerId, OwnerRows> owned, List<RowRefusal> refusals) {
    boolean changed = false;
    for (RowRefusal refusal : refusals) {
      OwnerRows of = owned.get(refusal.row().owner());
      if (of == null || !refusal.isCurable()) {
        continue;
      }
      if (!isOutOfPatience(of) || isAsOfAll(of, refusal)) {
        changed |= holdBack(of, refusal.row().key() + ": " + MySqlText.of(refusal.error()));
      } else if (refusal.error() instanceof NotOwnerException waits
          && waits.isPending()
          && !inVain.contains(refusal.row())) {
        undecided.add(new Undecided(refusal.row(), of.session(), waits.awaited()));
        changed = true;
      }
    }
    return changed;
  }

  private boolean isOutOfPatience(OwnerRows of) {
    return patience.isOver(of.attempts(), of.refusedForMillis());
  }

  /** Then nothing is known against this row: no other of its table passes, or MySQL is slow. */
  private boolean isAsOfAll(OwnerRows of, RowRefusal refusal) {
    return switch (ErrorKind.of(refusal.error())) {
      case SLOW -> !isSlowByItself(of);
      case SCHEMA -> !wroteInto.test(refusal.row().key().table());
      default -> false;
    };
  }

  /** While nobody else commits, nobody shows that others pass. */
  private boolean isSlowByItself(OwnerRows of) {
    return wroteLately.getAsBoolean() || of.refusedForMillis() >= ALONE_MILLIS;
  }

  /**
   * One owner's rows, with the session under which they were claimed.
   *
   * @param attempts how often they were claimed, this time included
   * @param refusedForMillis how long ago one of them was refused first; 0 if never
   * @param unreadable rows that are to be set aside without trying
   */
  public record OwnerRows(
      OwnerId owner,
      SessionId session,
      int attempts,
      long refusedForMillis,
      List<RowChange> rows,
      List<Refused> unreadable) {
    /** The same as if no row of it had been refused before: its patience begins anew. */
    public OwnerRows notRefusedYet() {
      return new OwnerRows(owner, session, attempts, 0, rows, unreadable);
    }
  }

  /** An owner that was left out, and why. */
  public record HeldBack(OwnerRows of, String reason) {}

  /**
   * An owner that was flushed.
   *
   * @param kept rows that wait on in Redis for the other half of a handover
   */
  public record Written(OwnerRows of, List<Refused> setAside, List<RowChange> kept) {}

  /**
   * When rows are given up.
   *
   * @param attempts how often an owner is tried, at least, before a row of it is set aside that
   *     another flush may yet make fit, or whose error is not known
   * @param millis how long it is tried, at least
   * @param halfMillis how long after its commit a row at most waits in Redis for the other half of
   *     a handover, when that may still come: its owner's other rows are flushed meanwhile
   * @param rowSeconds how long MySQL may take for such a row at its last try; below the silence
   *     after which a server counts as away
   * @param deadLetters most rows set aside in the whole database; at the limit owners with refused
   *     rows wait in Redis
   */
  public record Patience(
      int attempts, long millis, long halfMillis, int rowSeconds, int deadLetters) {
    /** Whether an owner has been tried for long enough. */
    boolean isOver(int tried, long refusedForMillis) {
      return tried >= attempts && refusedForMillis >= millis;
    }
  }

  /** Whether other halves of handovers may still come. */
  public interface Halves {
    /** Nobody can be asked: none is waited for beyond the patience that every row has. */
    Halves UNKNOWN = (row, from) -> false;

    /**
     * Whether one of these owners may yet bring its half of a handover. Called without a
     * transaction; never throws for what a server answers.
     */
    boolean mayCome(RowKey row, Set<OwnerId> from);
  }
}
