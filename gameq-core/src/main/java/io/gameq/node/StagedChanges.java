package io.gameq.node;

import io.gameq.ClosedException;
import io.gameq.GameQueueException;
import io.gameq.RollbackRequiredException;
import io.gameq.RowRefusedException;
import io.gameq.change.CarriedColumns;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit.CommitPart;
import io.gameq.change.FoldedMessages;
import io.gameq.message.MessageChange;
import io.gameq.owner.OwnerId;
import io.gameq.rows.CanonicalRow;
import io.gameq.rows.CanonicalRow.PartialRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.Table;
import io.gameq.topic.Limits;
import io.gameq.view.OwnerView.MissingTables;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The changes of rows and messages staged in one session for its next commit: checks each and
 * encodes it. What may be half of a change is not committed: a change that is refused makes what is
 * staged rollback-only. Thread-safe; never locks two sessions at a time. Lost with the process.
 *
 * <pre>
 * whole --put refused-------------------------------> rollback-only: no commit until rollback
 * whole --commit of several sessions found no room--> together: no commit without those others
 * together --another is rolled back or lost---------> rollback-only
 * any   --commit of a handler refused---------------> refused: takes nothing more
 * </pre>
 */
final class StagedChanges {
  final NodeSession session;
  private final GameRows games;
  private final MissingTables missing;
  final OwnerId owner;

  /** Made anew for each commit, with its first change; null while there is none. */
  private @Nullable Size size;

  /** What is staged in the session, when these are those of a change set beside it; else null. */
  private final @Nullable StagedChanges ofSession;

  private final Map<String, ChangedRow> rows = new LinkedHashMap<>();

  /** Null for none: nearly every commit is of rows, and pays for nothing else. */
  private @Nullable Besides besides;

  private Set<StagedChanges> together = Set.of();
  private @Nullable RollbackCause rollbackOnly;

  /** Why the commit of a handler was refused: what the game remembers is ahead of its rows. */
  private @Nullable RuntimeException refused;

  private boolean closed;
  private boolean sealed;

  /** What is staged besides rows. */
  private static final class Besides {
    final FoldedMessages messages = new FoldedMessages();
    final Map<String, GameRows.Sent> sent = new LinkedHashMap<>();

    int size() {
      return messages.size() + sent.size();
    }

    long bytes() {
      long bytes = messages.bytes();
      for (GameRows.Sent row : sent.values()) {
        bytes += row.row().bytes();
      }
      return bytes;
    }
  }

  /**
   * What was taken for a commit: a part of it, which may have no rows, its messages, and rows that
   * are sent.
   */
  record Staged(
      NodeSession from, CommitPart part, List<MessageChange> messages, List<GameRows.Sent> sent) {
    boolean isEmpty() {
      return part.rows().isEmpty() && messages.isEmpty() && sent.isEmpty();
    }
  }

  /** Why what is staged may be half of a change. */
  private record RollbackCause(String why, Throwable cause) {}

  /** Those of a session; tables that are {@code missing} were not told. */
  StagedChanges(NodeSession session, MissingTables missing) {
    this(session, missing, null, null);
  }

  private StagedChanges(
      NodeSession session,
      MissingTables missing,
      @Nullable Size size,
      @Nullable StagedChanges ofSession) {
    this.session = session;
    this.games = session.rows;
    this.missing = missing;
    this.owner = missing.owner();
    this.size = size;
    this.ofSession = ofSession;
  }

  /** Those of a change set, beside these of the session. */
  StagedChanges beside(Size sizeOfSet) {
    requireOpen();
    return new StagedChanges(session, missing, sizeOfSet, this);
  }

  /** Has a change staged; when it is refused, what is staged becomes rollback-only. */
  void change(String what, Runnable staging) {
    try {
      staging.run();
    } catch (RuntimeException e) { // the message of gameq's own names the table, others a value
      setRollbackOnly(
          "a %s was refused (%s);"
              .formatted(
                  what,
                  e instanceof GameQueueException ? e.getMessage() : e.getClass().getSimpleName()),
          e);
      throw e;
    }
  }

  void put(GameRows.Given row) {
    requireKnown(row.table());
    checkOwned(row);
    RowKey key = RowKey.of(row.table(), row.values());
    stage(games.encode(row.table(), key, RowOp.PUT, row.values(), carried(key)));
  }

  void update(PartialRow part) {
    RowKey key = part.key();
    put(games.given(part, session.currentRow(part.table(), key, get(key.text()))));
  }

  /** With the parts of the primary key in their order. */
  void delete(Table of, Object[] key) {
    requireKnown(of);
    Object[] parts = CanonicalRow.key(of, key);
    int part = of.keyColumns().indexOf(of.ownerColumn());
    if (part >= 0 && !parts[part].equals(of.ownerColumnValue(owner))) {
      throw new RowRefusedException(
          ("%s: the key names another owner by its column %s than %s: delete it in that"
                  + " owner's session")
              .formatted(of.name(), of.ownerColumn().name(), owner));
    }
    stage(games.encode(of, RowKey.ofKey(of, parts), RowOp.DELETE, parts, null));
  }

  /** Stages a move in both sessions. */
  void move(GameRows.Given row, StagedChanges to) {
    Table table = row.table();
    if (table.keyColumns().contains(table.ownerColumn())) {
      throw new RowRefusedException(
          ("%s: the primary key names the owner, so this row cannot move: delete it here"
                  + " and put it in the other session, and commit both together")
              .formatted(table.name()));
    }
    requireKnown(table);
    to.requireKnown(table);
    to.checkOwned(row);
    RowKey key = RowKey.of(table, row.values());
    CarriedColumns.Carried carried = carried(key);
    ChangedRow away = games.encode(table, key, RowOp.MOVED, row.values(), carried);
    to.stage(games.encode(table, key, RowOp.PUT, row.values(), carried).asMovedIn());
    to.session.tracker.carried().movesIn(key.text(), carried);
    stage(away);
  }

  void send(OwnerId to, GameRows.Given row) {
    if (to.equals(owner)) {
      throw new RowRefusedException(
          "rows are sent to other owners than %s, whose session this is: put them".formatted(to));
    }
    stage(games.sent(to, row));
  }

  /** What a put takes along that its game does not know. */
  private CarriedColumns.@Nullable Carried carried(RowKey key) {
    return session.tracker.carried().of(key.text(), get(key.text()));
  }

  /** A change of a row that was not told might be older than what MySQL has, and count for less. */
  private void requireKnown(Table table) {
    missing.requireKnown(table, RowRefusedException::new);
  }

  private void checkOwned(GameRows.Given row) {
    Table table = row.table();
    if (!table.isOwnedBy(owner, row.values())) {
      throw new RowRefusedException(
          ("%s: the row belongs to %s by its column %s, not to %s: put it in that owner's"
                  + " session, or move it there")
              .formatted(
                  table.name(), table.ownerOf(row.values()), table.ownerColumn().name(), owner));
    }
  }

  /**
   * Of several changes of one row the last one counts, but a row that moved in stays moved in.
   *
   * @throws GameQueueException when it would make more than one commit takes; or, in a change set,
   *     when the session has a change of the row
   */
  private void stage(ChangedRow row) {
    if (ofSession != null && ofSession.get(row.key()) != null) {
      throw new GameQueueException(
          ("row %s has a change that is staged in the session of %s: commit it, or roll it back,"
                  + " first")
              .formatted(row.key(), owner));
    }
    add(row);
  }

  private synchronized void add(ChangedRow row) {
    requireUnsealed();
    ChangedRow before = rows.get(row.key());
    size().grow(before == null ? 1 : 0, row.bytes() - (before == null ? 0 : before.bytes()));
    rows.put(
        row.key(),
        before != null && before.movedIn() && row.op() != RowOp.MOVED ? row.asMovedIn() : row);
  }

  /** Of several changes of one message the last one counts, see {@link FoldedMessages}. */
  synchronized void stage(MessageChange message) {
    requireUnsealed();
    FoldedMessages messages = besides().messages;
    int number = messages.size();
    long bytes = messages.bytes();
    messages.add(message);
    size().grow(messages.size() - number, messages.bytes() - bytes);
  }

  /** A row to another owner. Throws RowRefusedException when one with its key is staged. */
  private synchronized void stage(GameRows.Sent row) {
    requireUnsealed();
    Map<String, GameRows.Sent> sent = besides().sent;
    if (sent.containsKey(row.row().key())) {
      throw row.isTwice();
    }
    size().grow(1, row.row().bytes());
    sent.put(row.row().key(), row);
  }

  private Size size() {
    if (size == null) {
      size = new Size(session.node.config.limits());
    }
    return size;
  }

  private Besides besides() {
    if (besides == null) {
      besides = new Besides();
    }
    return besides;
  }

  /**
   * The commit of a handler was refused after it was taken: another handler may have the message,
   * and the next full row would bring in what the game remembers of this one. Only an open reads
   * what is there.
   */
  synchronized void refuse(RuntimeException why) {
    if (refused == null) {
      refused = why;
    }
  }

  /** Throws ClosedException when it takes no more. */
  synchronized void requireOpen() {
    if (refused != null) {
      throw new ClosedException(
          ("a commit of %s together with the acknowledgement of a message was refused, and what"
                  + " the game remembers may be ahead of its rows: open the owner again (%s)")
              .formatted(owner, refused.getMessage()));
    }
    if (closed) {
      throw new ClosedException("the session of " + owner + " is closed: open the owner again");
    }
  }

  private void requireUnsealed() {
    requireOpen();
    if (sealed) {
      throw new ClosedException(
          "the change set is over: stage changes while transact runs your code");
    }
  }

  private void count() {
    long bytes = CommitPart.bytes(rows.values());
    size()
        .set(
            rows.size() + (besides == null ? 0 : besides.size()),
            bytes + (besides == null ? 0 : besides.bytes()));
  }

  /** The staged change of a row, null when there is none. */
  synchronized @Nullable ChangedRow get(String rowKey) {
    return rows.get(rowKey);
  }

  /** Throws what the first refused change was refused with; nothing when none was. */
  synchronized void requireWhole() {
    if (rollbackOnly != null && rollbackOnly.cause instanceof RuntimeException cause) {
      throw cause;
    }
  }

  synchronized List<ChangedRow> rows() {
    return List.copyOf(rows.values());
  }

  synchronized boolean isEmpty() {
    return rows.isEmpty() && (besides == null || besides.size() == 0);
  }

  /**
   * From now on nothing is committed until it is rolled back; the first reason is kept. After the
   * close nothing is committed anyway.
   */
  synchronized void setRollbackOnly(String why, Throwable cause) {
    if (rollbackOnly == null && !closed) {
      rollbackOnly = new RollbackCause(why, cause);
    }
  }

  /** The same where anything is staged. */
  synchronized void setRollbackOnlyIfAny(String why, Throwable cause) {
    if (!isEmpty()) {
      setRollbackOnly(why, cause);
    }
  }

  /**
   * Takes what is staged for a commit of {@code all} these; empty when nothing is.
   *
   * @throws RollbackRequiredException when it may be half of a change; it stays staged
   */
  synchronized Staged take(Set<StagedChanges> all) {
    requireOpen();
    if (rollbackOnly != null) {
      throw rollbackRequired(rollbackOnly);
    }
    if (!together.isEmpty() && !all.containsAll(together)) {
      throw rollbackRequired(
          new RollbackCause(
              "it was to be committed together with what other sessions have staged: commit all of"
                  + " them together again, or",
              new GameQueueException("the commit of several sessions failed")));
    }
    Staged taken = staged();
    clear();
    together = Set.of();
    size = null;
    return taken;
  }

  private Staged staged() {
    return new Staged(
        session,
        new CommitPart(session.ref(), new ArrayList<>(rows.values())),
        besides == null ? List.of() : besides.messages.list(),
        besides == null ? List.of() : List.copyOf(besides.sent.values()));
  }

  private void clear() {
    rows.clear();
    besides = null;
  }

  private RollbackRequiredException rollbackRequired(RollbackCause cause) {
    return new RollbackRequiredException(
        ("what is staged for %s may be half of a change and was not committed: %s call"
                + " rollback() on this session, and on the others of a trade, and stage the change"
                + " again")
            .formatted(owner, cause.why),
        cause.cause);
  }

  /** Puts changes back that were not sent, below anything staged since. */
  synchronized void putBack(Staged taken) {
    Staged since = staged();
    clear();
    putIn(taken);
    putIn(since);
    count();
  }

  private void putIn(Staged some) {
    some.part.rows().forEach(row -> rows.put(row.key(), row));
    if (!some.messages.isEmpty() || !some.sent.isEmpty()) {
      besides().messages.addAll(some.messages);
      some.sent.forEach(row -> besides().sent.put(row.row().key(), row));
    }
  }

  /**
   * After a commit of several that failed and whose rows were put back: they were meant as one
   * change, and stay one. When one of them is rollback-only or lost, all are rollback-only.
   */
  static void stayOne(Collection<StagedChanges> all, boolean oneIsGone, RuntimeException failure) {
    if (oneIsGone) {
      all.forEach(
          of ->
              of.setRollbackOnlyIfAny(
                  "it was to be committed together with what another session had staged, which"
                      + " could not be;",
                  failure));
      return;
    }
    Set<StagedChanges> every = Set.copyOf(all);
    every.forEach(of -> of.bindTo(every));
  }

  private synchronized void bindTo(Set<StagedChanges> all) {
    if (!isEmpty()) {
      together = all;
    }
  }

  /** Drops everything staged; it is whole again. Others that belonged to it are rollbackOnly. */
  void rollback() {
    drop(false);
  }

  /**
   * Drops everything staged, and takes no more; stays rollback-only if it is, for a trade that it
   * was part of.
   *
   * @return the tables of the rows that were dropped, and the topics of messages, each once
   */
  Set<String> close() {
    return drop(true);
  }

  /** Takes no more changes; what is staged can still be taken. */
  synchronized void seal() {
    sealed = true;
  }

  private Set<String> drop(boolean closing) {
    Set<StagedChanges> others;
    Set<String> dropped = new TreeSet<>();
    synchronized (this) {
      others = together;
      together = Set.of();
      Staged its = staged();
      its.part.rows().forEach(row -> dropped.add(GameRows.tableOf(row.encoded())));
      its.messages.forEach(of -> dropped.add("topic " + of.id().topic()));
      its.sent.forEach(row -> dropped.add(GameRows.tableOf(row.row().encoded())));
      clear();
      size = null;
      if (closing) {
        closed = true;
      } else {
        rollbackOnly = null;
      }
    }
    for (StagedChanges other : others) {
      if (other != this) {
        other.setRollbackOnlyIfAny(
            "it was to be committed together with what another session had staged, which was"
                + " dropped;",
            new GameQueueException("staged changes of " + owner + " were dropped"));
      }
    }
    return dropped;
  }

  /**
   * How much is staged for one commit, against what a commit takes: too much is refused when it is
   * put, not when it is committed. Thread-safe.
   */
  static final class Size {
    private final Limits limits;
    private int rows;
    private long bytes;

    Size(Limits limits) {
      this.limits = limits;
    }

    /**
     * Counts a change.
     *
     * @param moreRows and messages; 0 for one that takes another's place
     * @throws GameQueueException when it does not fit; then it is not counted
     */
    synchronized void grow(int moreRows, long moreBytes) {
      if (rows + moreRows > limits.commitRows()) {
        throw tooMuch(
            String.format(Locale.ROOT, "%,d rows and messages", rows + moreRows),
            String.format(Locale.ROOT, "%,d", limits.commitRows()));
      }
      if (bytes + moreBytes > limits.commitBytes()) {
        throw tooMuch(
            String.format(Locale.ROOT, "%,d bytes", bytes + moreBytes),
            String.format(Locale.ROOT, "%,d", limits.commitBytes()));
      }
      rows += moreRows;
      bytes += moreBytes;
    }

    private static GameQueueException tooMuch(String wouldBe, String limit) {
      return new GameQueueException(
          ("this change would make a commit of %s, the limit is %s: commit in smaller steps, or"
                  + " raise maxCommit")
              .formatted(wouldBe, limit));
    }

    /** So much is staged now. */
    synchronized void set(int nowRows, long nowBytes) {
      rows = nowRows;
      bytes = nowBytes;
    }
  }
}
