package io.gameq.node;

import io.gameq.ChangeSet;
import io.gameq.ClosedException;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.RollbackRequiredException;
import io.gameq.RowRefusedException;
import io.gameq.Urgency;
import io.gameq.change.CarriedColumns;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit.CommitPart;
import io.gameq.change.FoldedMessages;
import io.gameq.commit.MessageCommits;
import io.gameq.message.MessageChange;
import io.gameq.owner.OwnerId;
import io.gameq.rows.CanonicalRow;
import io.gameq.rows.CanonicalRow.PartialRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.Table;
import io.gameq.rows.TableRow;
import io.gameq.subscription.PublishedTopic;
import io.gameq.topic.Limits;
import io.gameq.topic.Publish;
import io.gameq.topic.Topic;
import io.gameq.view.GameRows;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
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
  final OpenOwner owner;
  private final SessionHost node;
  private final GameRows games;
  private final Size size;

  /** What is staged in the session, when these are those of a change set beside it; else this. */
  private final StagedChanges session;

  private final Map<String, ChangedRow> rows = new LinkedHashMap<>();
  private final Map<String, GameRows.Sent> sent = new LinkedHashMap<>(0);

  /** Null for none: nearly every commit is of rows, and pays for nothing else. */
  private @Nullable FoldedMessages messages;

  private Set<StagedChanges> together = Set.of();
  private @Nullable RollbackCause rollbackOnly;

  /** Why it takes no more and has nothing to commit, for good; null while it does. */
  private @Nullable String over;

  /** Whether a commit ended it, and not its close: what was begun before that is sent. */
  private volatile boolean hasFailed;

  /** What was taken for a commit: a part of it, which may have no rows, and what goes with it. */
  record Staged(
      StagedChanges from, CommitPart part, List<MessageChange> messages, List<GameRows.Sent> sent) {
    boolean isEmpty() {
      return part.rows().isEmpty() && messages.isEmpty() && sent.isEmpty();
    }
  }

  /** Why what is staged may be half of a change. */
  private record RollbackCause(String why, Throwable cause) {}

  /** Those of a session. */
  StagedChanges(SessionHost node, OpenOwner owner) {
    this.node = node;
    this.games = node.rows();
    this.owner = owner;
    this.size = new Size(node.limits());
    this.session = this;
  }

  /** Those of a change set, beside these of the session. */
  private StagedChanges(StagedChanges session, Size sizeOfSet) {
    session.requireOpen();
    this.node = session.node;
    this.games = node.rows();
    this.owner = session.owner;
    this.size = sizeOfSet;
    this.session = session;
  }

  /** What is staged in a session. Throws GameQueueException when it is not one of a node. */
  static StagedChanges of(OwnerSession session) {
    if (session instanceof GameChanges its) {
      return its.first();
    }
    throw new GameQueueException("not a session that GameQueue.open returned: " + session);
  }

  // --- one change

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

  private void put(TableRow row) {
    requireKnown(row.managed());
    checkOwned(row);
    RowKey key = RowKey.of(row.managed(), row.values());
    stage(games.encode(row.managed(), key, RowOp.PUT, row.values(), carried(key)));
  }

  private void update(PartialRow part) {
    RowKey key = part.key();
    put(games.given(part, owner.current(part.table(), key, get(key.text()), node.deadline())));
  }

  /** With the parts of the primary key in their order. */
  private void delete(Table of, Object[] key) {
    requireKnown(of);
    Object[] parts = CanonicalRow.key(of, key);
    int part = of.keyColumns().indexOf(of.ownerColumn());
    if (part >= 0 && !of.isNamedBy(parts[part], owner.id)) {
      throw new RowRefusedException(
          ("%s: the key names another owner by its column %s than %s: delete it in that"
                  + " owner's session")
              .formatted(of.name(), of.ownerColumn().name(), owner.id));
    }
    stage(games.encode(of, RowKey.ofKey(of, parts), RowOp.DELETE, parts, null));
  }

  /** Stages a move in both sessions. */
  void move(TableRow row, StagedChanges to) {
    Table table = row.managed();
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
    to.owner.tracker.carried().movesIn(key.text(), carried);
    stage(away);
  }

  private void send(OwnerId to, TableRow row) {
    if (to.equals(owner.id)) {
      throw new RowRefusedException(
          "rows are sent to other owners than %s, whose session this is: put them".formatted(to));
    }
    stage(games.sent(to, row));
  }

  /** What a put takes along that its game does not know. */
  private CarriedColumns.@Nullable Carried carried(RowKey key) {
    return owner.tracker.carried().of(key.text(), get(key.text()));
  }

  /** A change of a row that was not told might be older than what MySQL has, and count for less. */
  private void requireKnown(Table table) {
    owner.missing.requireKnown(table, RowRefusedException::new);
  }

  private void checkOwned(TableRow row) {
    Table table = row.managed();
    if (!table.isOwnedBy(owner.id, row.values())) {
      throw new RowRefusedException(
          ("%s: the row belongs to %s by its column %s, not to %s: put it in that owner's"
                  + " session, or move it there")
              .formatted(
                  table.name(), table.ownerOf(row.values()), table.ownerColumn().name(), owner.id));
    }
  }

  /**
   * Of several changes of one row the last one counts, but a row that moved in stays moved in.
   *
   * @throws GameQueueException when it would make more than one commit takes
   * @throws RowRefusedException in a change set, when the session has a change of the row
   */
  private void stage(ChangedRow row) {
    if (session != this && session.get(row.key()) != null) {
      throw new RowRefusedException(
          ("row %s has a change that is staged in the session of %s: commit it, or roll it back,"
                  + " first")
              .formatted(row.key(), owner.id));
    }
    synchronized (this) {
      requireOpen();
      ChangedRow before = rows.get(row.key());
      size.grow(before == null ? 1 : 0, row.bytes() - (before == null ? 0 : before.bytes()));
      rows.put(
          row.key(),
          before != null && before.movedIn() && row.op() != RowOp.MOVED ? row.asMovedIn() : row);
    }
  }

  synchronized void stage(MessageChange message) {
    requireOpen();
    size.add(message, messages());
  }

  private synchronized void stage(GameRows.Sent row) {
    requireOpen();
    size.add(row, sent);
  }

  private FoldedMessages messages() {
    if (messages == null) {
      messages = new FoldedMessages();
    }
    return messages;
  }

  /** The staged change of a row, null when there is none. */
  private synchronized @Nullable ChangedRow get(String rowKey) {
    return rows.get(rowKey);
  }

  synchronized List<ChangedRow> rows() {
    return List.copyOf(rows.values());
  }

  synchronized boolean isEmpty() {
    return rows.isEmpty() && messages == null && sent.isEmpty();
  }

  // --- whether it may be committed

  /**
   * A commit failed after it was taken: the next full row would bring in what the game remembers of
   * it. Only an open reads what is there, so the game is told as if the owner were lost.
   */
  void refuse(RuntimeException why) {
    if (owner.session().isLost()) {
      return; // it commits nothing more, and says so
    }
    session.hasFailed = true;
    session.end(
        ("a commit of %s failed, and what the game remembers may be ahead of its rows: open the"
                + " owner again (%s)")
            .formatted(owner.id, why.getMessage()));
    boolean unused = owner.tracker.whenLost().complete(null);
  }

  /** Throws ClosedException once a commit of the session has failed that ended it. */
  void requireNotEnded() {
    if (session.hasFailed) {
      session.requireOpen();
    }
  }

  /** Whether the session was lost or ended, or is closed. */
  boolean takesNoMore() {
    synchronized (session) {
      return session.over != null || owner.session().isLost();
    }
  }

  private synchronized void end(String why) {
    over = over == null ? why : over;
  }

  /** Throws ClosedException when it takes no more. */
  private synchronized void requireOpen() {
    if (over != null) {
      throw new ClosedException(over);
    }
  }

  /**
   * From now on nothing is committed until it is rolled back; the first reason is kept. After the
   * close nothing is committed anyway.
   */
  private synchronized void setRollbackOnly(String why, Throwable cause) {
    if (rollbackOnly == null && over == null) {
      rollbackOnly = new RollbackCause(why, cause);
    }
  }

  /** The same where anything is staged. */
  synchronized void setRollbackOnlyIfAny(String why, Throwable cause) {
    if (!isEmpty()) {
      setRollbackOnly(why, cause);
    }
  }

  // --- commit and rollback

  /**
   * Takes what is staged for a commit of {@code all} these; empty when nothing is. Else, and where
   * it is sent all the same, closing the session waits until the tracker is told that it was sent,
   * or not.
   *
   * @throws RollbackRequiredException when it may be half of a change; it stays staged
   */
  Staged take(Set<StagedChanges> all, boolean isSentEmpty) {
    synchronized (session) {
      session.requireOpen();
      Staged taken = takeAll(all);
      if (isSentEmpty || !taken.isEmpty()) {
        owner.tracker.preparing();
      }
      return taken;
    }
  }

  private synchronized Staged takeAll(Set<StagedChanges> all) {
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
    return taken;
  }

  private Staged staged() {
    return new Staged(
        this,
        new CommitPart(owner.session(), new ArrayList<>(rows.values())),
        messages == null ? List.of() : messages.list(),
        List.copyOf(sent.values()));
  }

  private void clear() {
    rows.clear();
    sent.clear();
    messages = null;
    size.set(0, 0);
  }

  private RollbackRequiredException rollbackRequired(RollbackCause cause) {
    return new RollbackRequiredException(
        ("what is staged for %s may be half of a change and was not committed: %s call"
                + " rollback() on this session, and on the others of a trade, and stage the change"
                + " again")
            .formatted(owner.id, cause.why),
        cause.cause);
  }

  /** Puts changes back that were not sent, below anything staged since. */
  synchronized void putBack(Staged taken) {
    Staged since = staged();
    clear();
    for (Staged some : List.of(taken, since)) {
      some.part.rows().forEach(row -> rows.put(row.key(), row));
      some.sent.forEach(row -> sent.put(row.row().key(), row));
      if (!some.messages.isEmpty()) {
        messages().addAll(some.messages);
      }
    }
    long bytes = CommitPart.bytes(rows.values());
    for (GameRows.Sent row : sent.values()) {
      bytes += row.row().bytes();
    }
    size.set(
        rows.size() + sent.size() + (messages == null ? 0 : messages.size()),
        bytes + (messages == null ? 0 : messages.bytes()));
  }

  /**
   * After a commit of several that failed and whose rows were put back: they were meant as one
   * change, and stay one. When one of them is rollback-only or lost, all are rollback-only.
   */
  static void stayOne(Set<StagedChanges> all, boolean oneIsGone, RuntimeException failure) {
    for (StagedChanges of : all) {
      if (oneIsGone) {
        of.setRollbackOnlyIfAny(
            "it was to be committed together with what another session had staged, which"
                + " could not be;",
            failure);
      } else {
        of.bindTo(all);
      }
    }
  }

  private synchronized void bindTo(Set<StagedChanges> all) {
    if (!isEmpty()) {
      together = all;
    }
  }

  /** Drops everything staged; it is whole again. Others that belonged to it are rollbackOnly. */
  void rollback() {
    var unused = drop(false);
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
      if (closing) {
        end("the session of " + owner.id + " is closed: open the owner again");
      } else {
        rollbackOnly = null;
      }
    }
    for (StagedChanges other : others) {
      if (other != this) {
        other.setRollbackOnlyIfAny(
            "it was to be committed together with what another session had staged, which was"
                + " dropped;",
            new GameQueueException("staged changes of " + owner.id + " were dropped"));
      }
    }
    return dropped;
  }

  /**
   * Passes for what one commit takes.
   *
   * @param what begins the message otherwise
   * @param ofWhat what is counted as rows
   */
  static void requireFit(Limits limits, String what, long rows, String ofWhat, long bytes) {
    boolean isTooMany = rows > limits.commitRows();
    if (isTooMany || bytes > limits.commitBytes()) {
      throw new GameQueueException(
          String.format(
              Locale.ROOT,
              "%s of %,d %s, the limit is %,d: commit in smaller steps, or raise maxCommit",
              what,
              isTooMany ? rows : bytes,
              isTooMany ? ofWhat : "bytes",
              isTooMany ? limits.commitRows() : limits.commitBytes()));
    }
  }

  /**
   * How much is staged for one commit, against what a commit takes: too much is refused when it is
   * put, not when it is committed. Thread-safe.
   */
  private static final class Size {
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
      requireFit(
          limits,
          "this change would make a commit",
          rows + moreRows,
          "rows and messages",
          bytes + moreBytes);
      rows += moreRows;
      bytes += moreBytes;
    }

    /** Of several changes of one message the last one counts, see {@link FoldedMessages}. */
    void add(MessageChange message, FoldedMessages to) {
      int number = to.size();
      long bytes = to.bytes();
      to.add(message);
      grow(to.size() - number, to.bytes() - bytes);
    }

    /** A row to another owner. Throws RowRefusedException when one with its key is there. */
    void add(GameRows.Sent row, Map<String, GameRows.Sent> to) {
      if (to.containsKey(row.row().key())) {
        throw row.isTwice();
      }
      grow(1, row.row().bytes());
      to.put(row.row().key(), row);
    }

    /** So much is staged now. */
    synchronized void set(int nowRows, long nowBytes) {
      rows = nowRows;
      bytes = nowBytes;
    }
  }

  /** The calls by which the game's code changes rows, of a session or of a change set. */
  abstract static class GameChanges {
    final GameRows rows;
    private final MessageCommits commits;

    GameChanges(GameRows rows, MessageCommits commits) {
      this.rows = rows;
      this.commits = commits;
    }

    /** Where what the set of changes has in common is staged. */
    abstract StagedChanges first();

    /**
     * Where a row is staged.
     *
     * @param owner gives whose row it is; null where the change does not name the owner
     * @param unnamed what is told then, where it has to; %s is the name of the owner column
     */
    StagedChanges ownersOf(Table table, Supplier<@Nullable OwnerId> owner, String unnamed) {
      return first();
    }

    void stage(MessageChange message) {
      first().stage(message);
    }

    void stageSend(OwnerId to, TableRow row) {
      first().send(to, row);
    }

    /** Stages a move between this and another session. */
    abstract void stageMove(Supplier<TableRow> row, OwnerSession other);

    void change(String what, Runnable staging) {
      first().change(what, staging);
    }

    private void stagePut(TableRow row) {
      ownersOf(row.managed(), row::owner, "").put(row);
    }

    public <T extends Record> void put(T row) {
      change("put", () -> stagePut(rows.given(row)));
    }

    public void put(String table, Map<String, ?> columns) {
      change("put", () -> stagePut(rows.given(table, columns)));
    }

    private void stageUpdate(PartialRow row) {
      ownersOf(
              row.table(),
              () -> row.namesOwner() ? row.owner() : null,
              "an update in a change set of several owners names the owner by its column %s")
          .update(row);
    }

    public <T extends Record> void update(T row) {
      change("update", () -> stageUpdate(rows.part(row)));
    }

    public void update(String table, Map<String, ?> columns) {
      change("update", () -> stageUpdate(rows.part(table, columns)));
    }

    private void stageDelete(Table table, Object[] key) {
      int part = table.keyColumns().indexOf(table.ownerColumn());
      ownersOf(
              table,
              () -> part < 0 ? null : table.ownerOfValue(CanonicalRow.key(table, key)[part]),
              "the primary key does not name the owner: say whose row it is, delete(session, ...)")
          .delete(table, key);
    }

    public void delete(Class<? extends Record> type, Object... key) {
      change("delete", () -> stageDelete(rows.mapper(type).table(), key));
    }

    public void delete(String table, Object... key) {
      change("delete", () -> stageDelete(rows.table(table), key));
    }

    public <T extends Record> void move(T row, OwnerSession other) {
      stageMove(() -> rows.given(row), other);
    }

    public void move(String table, Map<String, ?> columns, OwnerSession other) {
      stageMove(() -> rows.given(table, columns), other);
    }

    public <T extends Record> void send(String owner, T row) {
      change("send", () -> stageSend(OwnerId.of(owner), rows.given(row)));
    }

    public void send(String owner, String table, Map<String, ?> columns) {
      change("send", () -> stageSend(OwnerId.of(owner), rows.given(table, columns)));
    }

    private <T> void stage(
        String what, Topic<T> topic, Function<PublishedTopic<T>, MessageChange> change) {
      change(what, () -> stage(change.apply(ofNode(topic))));
    }

    final <T> PublishedTopic<T> ofNode(Topic<T> topic) {
      if (!(topic instanceof PublishedTopic<T> of) || !of.isOf(commits)) {
        throw new GameQueueException(
            "not a topic that this node's GameQueue.topic returned: " + topic);
      }
      return of;
    }

    public <T> void publish(Topic<T> topic, Publish<T> message) {
      stage("publish", topic, of -> of.change(message));
    }

    public void delete(Topic<?> topic, @Nullable String group, String key) {
      stage("delete", topic, of -> of.deletion(group, key));
    }

    public void retime(Topic<?> topic, @Nullable String group, String key, Instant due) {
      stage("retime", topic, of -> of.retiming(group, key, due));
    }

    public void retime(Topic<?> topic, @Nullable String group, String key, Duration fromNow) {
      stage("retime", topic, of -> of.retiming(group, key, fromNow));
    }
  }

  /**
   * The changes that the game's code stages for one commit of its own. What it stages never meets
   * what is staged in the sessions, and what is refused discards the set, whatever the game's code
   * does with the exception. Used by the game's thread that runs this code.
   */
  static final class StagedChangeSet extends GameChanges implements ChangeSet {
    /** What stages of each session's owner. */
    final List<StagedChanges> shares;

    /** Of a set without sessions; null for none. */
    private @Nullable FoldedMessages messages;

    /** The same, by row key. */
    private final Map<String, GameRows.Sent> sent = new LinkedHashMap<>(0);

    private final Size size;
    private Urgency urgency = Urgency.NORMAL;
    private boolean isOver;

    /** Of the first change that was refused. */
    private @Nullable RuntimeException refusal;

    /** Throws GameQueueException when these are no sessions of this node. */
    StagedChangeSet(
        SessionHost node, MessageCommits commits, Collection<? extends OwnerSession> sessions) {
      super(node.rows(), commits);
      this.size = new Size(node.limits());
      this.shares =
          new LinkedHashSet<>(sessions)
              .stream().map(session -> new StagedChanges(of(session), size)).toList();
    }

    /**
     * Runs the game's code; throws what it throws, and what the first refused change was refused
     * with. Takes no more afterwards.
     */
    <T> T stage(Function<ChangeSet, T> code) {
      T value;
      try {
        value = code.apply(this);
      } finally {
        end();
      }
      if (refusal != null) {
        throw refusal;
      }
      return value;
    }

    private synchronized void end() {
      isOver = true;
    }

    @Override
    synchronized void change(String what, Runnable staging) {
      if (isOver) {
        throw new ClosedException(
            "the change set is over: stage changes while the code that it was given to runs");
      }
      try {
        staging.run();
      } catch (RuntimeException e) {
        refusal = refusal == null ? e : refusal;
        throw e;
      }
    }

    Urgency urgency() {
      return urgency;
    }

    @Override
    public void urgent() {
      urgency = Urgency.URGENT;
    }

    @Override
    StagedChanges first() {
      return shares.get(0);
    }

    @Override
    public void delete(OwnerSession of, Class<? extends Record> type, Object... key) {
      change("delete", () -> shareOf(of).delete(rows.mapper(type).table(), key));
    }

    @Override
    public void delete(OwnerSession of, String table, Object... key) {
      change("delete", () -> shareOf(of).delete(rows.table(table), key));
    }

    @Override
    void stageMove(Supplier<TableRow> given, OwnerSession from) {
      change(
          "move",
          () -> {
            TableRow row = given.get();
            StagedChanges giver = shareOf(from);
            StagedChanges taker = ownersOf(row.managed(), row::owner, "");
            if (taker.equals(giver)) {
              throw new RowRefusedException(
                  "%s: the row stays with %s: put it, or name its new owner by its column %s"
                      .formatted(row.table(), giver.owner.id, row.managed().ownerColumn().name()));
            }
            giver.move(row, taker);
          });
    }

    /** What is staged without a session. */
    List<MessageChange> messages() {
      return messages == null ? List.of() : messages.list();
    }

    /** The same. */
    List<GameRows.Sent> sent() {
      return List.copyOf(sent.values());
    }

    @Override
    void stage(MessageChange message) {
      if (!shares.isEmpty()) {
        first().stage(message);
        return;
      }
      messages = messages == null ? new FoldedMessages() : messages;
      size.add(message, messages);
    }

    /** By the receiver if it is of the set, to refuse that. */
    @Override
    void stageSend(OwnerId to, TableRow row) {
      if (shares.isEmpty()) {
        size.add(rows.sent(to, row), sent);
      } else {
        find(to).orElse(first()).send(to, row);
      }
    }

    private StagedChanges shareOf(OwnerSession session) {
      return shares.stream()
          .filter(share -> session instanceof GameChanges its && share.session == its.first())
          .findFirst()
          .orElseThrow(
              () -> new GameQueueException("the session is none of this change set: " + session));
    }

    private Optional<StagedChanges> find(OwnerId owner) {
      return shares.stream().filter(share -> share.owner.id.equals(owner)).findFirst();
    }

    @Override
    StagedChanges ownersOf(Table table, Supplier<@Nullable OwnerId> owner, String unnamed) {
      OwnerId named = owner.get();
      if (named == null && shares.size() != 1) {
        throw new RowRefusedException(
            table.name() + ": " + unnamed.formatted(table.ownerColumn().name()));
      }
      return named == null
          ? first()
          : find(named)
              .orElseThrow(
                  () ->
                      new RowRefusedException(
                          ("%s: the row belongs to %s by its column %s, and the change set is of"
                                  + " %s: give it that owner's session too")
                              .formatted(
                                  table.name(),
                                  named,
                                  table.ownerColumn().name(),
                                  shares.isEmpty()
                                      ? "no owner"
                                      : shares.stream()
                                          .map(share -> share.owner.id.toString())
                                          .collect(Collectors.joining(", ")))));
    }
  }
}
