package io.gameq.writer.trace;

import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.terminal.Shown;
import io.gameq.writer.mysql.MySqlOwner;
import io.gameq.writer.mysql.MySqlOwner.OwnerRecord;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.mysql.PauseTable.WriterPause;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.redis.RedisOwner;
import io.gameq.writer.redis.RedisOwner.ClaimRecord;
import io.gameq.writer.redis.RedisOwner.SessionRows;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What will happen to an owner's rows next, in one sentence. Immutable.
 *
 * @param kind for whoever reads it by program
 * @param sentence with what is to be done, if anything is
 */
public record NextStep(StepKind kind, String sentence) {
  /** An owner that is due for longer is not being looked at. */
  private static final long LATE_MILLIS = 5_000;

  /** How the owner stands. */
  public enum StepKind {
    /** All of it is in MySQL. */
    NOTHING(false),
    /** Its merge window lasts. */
    DUE_LATER(false),
    /** The next writer that looks takes it. */
    DUE_NOW(false),
    /** A writer is at it. */
    CLAIMED(false),
    /** The lease of the writer that had it is over. */
    LAPSED(false),
    /** MySQL refuses a row; it is tried again. */
    REFUSED(true),
    /** Redis forgot who owns; a writer asks MySQL. */
    UNOWNED(false),
    /** Its node puts rows back that Redis lost. */
    HEALING(false),
    /** Due for long: no writer looks. */
    OVERDUE(true),
    /** An operator paused it. */
    PAUSED(true),
    /** MySQL takes no rows of its tables. */
    PARKED(true),
    /** Rows are set aside. */
    DEAD_LETTERS(true),
    /** Rows of a session that lost ownership. */
    STALE(true),
    /** Rows wait of which MySQL does not know whose they are. */
    OF_NOBODY(true),
    /** What is in Redis does not fit together. */
    BROKEN(true),
    /** No server knows it. */
    NOT_KNOWN(true),
    /** A server does not answer. */
    CANNOT_TELL(true);

    private final boolean isToAct;

    StepKind(boolean isToAct) {
      this.isToAct = isToAct;
    }

    /** Whether somebody has to do something. */
    public boolean isToAct() {
      return isToAct;
    }

    /** With a sentence, made as {@link Shown#line} does. */
    NextStep next(String format, Object... arguments) {
      return new NextStep(this, Shown.line(format, arguments));
    }
  }

  /** Decides for an owner. */
  public static NextStep of(OwnerTrace trace) {
    RedisOwner redis = trace.redis();
    if (redis == null) {
      return StepKind.CANNOT_TELL.next(
          "Redis does not answer: what waits there is not known, and waits.");
    }
    if (!trace.isKnown()) {
      return trace.mysql() == null
          ? StepKind.CANNOT_TELL.next("Redis knows nothing of it, and MySQL does not answer.")
          : StepKind.NOT_KNOWN.next(
              "neither Redis nor MySQL knows this owner: nobody has opened it.");
    }
    if (!redis.foreign().isEmpty()) {
      return StepKind.BROKEN.next(
          "%s holds somebody else's value and is in the way: 'gameq-writer doctor' tells more.",
          redis.foreign().get(0));
    }
    List<NextStep> waiting =
        redis.withInboxes().map(of -> ofWaiting(trace, of)).filter(Objects::nonNull).toList();
    return waiting.stream()
        .filter(of -> of.kind().isToAct())
        .findFirst()
        .or(() -> waiting.stream().findFirst().map(of -> besideDeadLetters(trace, of)))
        .orElseGet(() -> ofRest(trace, redis));
  }

  private static NextStep besideDeadLetters(OwnerTrace trace, NextStep of) {
    long dead = trace.mysql() == null ? 0 : trace.mysql().deadLetters();
    return dead == 0
        ? of
        : deadLetters(trace, of.sentence() + " Before, MySQL has refused " + rows(dead));
  }

  private static NextStep deadLetters(OwnerTrace trace, String what) {
    return StepKind.DEAD_LETTERS.next(
        "%s: mend the cause, then 'gameq-writer dead retry --owner %s', or 'gameq-writer dead"
            + " discard --owner %s'.",
        what, trace.owner().id(), trace.owner().id());
  }

  private static String rows(long count) {
    return Shown.count(count, "row");
  }

  /** Of what waits under the owner's sessions, or in one inbox. */
  private static @Nullable NextStep ofWaiting(OwnerTrace trace, RedisOwner redis) {
    NextStep ofClaim = ofClaim(redis);
    return ofClaim == null ? ofDirty(trace, redis) : ofClaim;
  }

  private static @Nullable NextStep ofClaim(RedisOwner redis) {
    ClaimRecord claim = redis.claim();
    if (claim == null || !claim.isHeld()) {
      return redis.claimed() == null
          ? null
          : broken("its rows are claimed and nobody has the claim: they would wait for ever");
    }
    String writer = claim.writer();
    if (redis.claimed() == null) {
      return broken("writer %s has a claim of which the rows are gone", writer);
    }
    if (redis.leaseEndsMillis() == RedisOwner.NONE) {
      return broken("writer %s has a claim without a lease, which never ends", writer);
    }
    long left = redis.leaseEndsMillis() - redis.nowMillis();
    if (left < 0) {
      return StepKind.LAPSED.next(
          "the lease of writer %s ran out %s ago: the next writer that looks takes the rows back"
              + " and flushes them.",
          writer, Shown.duration(-left));
    }
    boolean isMore = redis.owned().filter(of -> of.dirty() != null).isPresent();
    return StepKind.CLAIMED.next(
        "writer %s flushes it now; if that writer has died, another takes it back in %s%s.",
        writer, Shown.duration(left), isMore ? "; what was committed since is due then" : "");
  }

  private static NextStep broken(String what, Object... arguments) {
    return StepKind.BROKEN.next(what + ": 'gameq-writer doctor' says what to do.", arguments);
  }

  private static @Nullable NextStep ofDirty(OwnerTrace trace, RedisOwner redis) {
    List<SessionRows> waiting =
        redis.sessions().stream().filter(of -> of.dirty() != null && !of.stale()).toList();
    if (waiting.isEmpty()) {
      return null;
    }
    SessionRows newest = waiting.get(waiting.size() - 1);
    if (!newest.isAwaited()) {
      return broken("it has dirty rows and nothing makes them due");
    }
    WriterPause pause = trace.pauseOfAll();
    if (pause != null) {
      return StepKind.PAUSED.next(
          "%s is paused by %s since %s UTC (%s): it waits until 'gameq-writer resume'.",
          Pauses.what(pause), pause.by(), pause.at(), pause.reason());
    }
    SessionId owns = redis.ownedBy();
    if (owns == null) {
      return unowned(trace);
    }
    if (owns.isNewerThan(newest.session())) {
      return StepKind.STALE.next(
          "session %s committed after it had lost the owner: the next writer parks its rows, which"
              + " are never flushed ('gameq-writer stale').",
          newest.session());
    }
    Set<String> paused = new TreeSet<>(trace.pausedTables());
    String tables = String.join(", ", paused);
    if (!paused.isEmpty() && paused.containsAll(trace.waitingTables())) {
      return StepKind.PAUSED.next(
          "all of its rows are of paused tables (%s): they wait until 'gameq-writer resume'.",
          tables);
    }
    NextStep due = dueOrParked(trace, redis, newest);
    return paused.isEmpty()
        ? due
        : StepKind.PAUSED.next(
            "its rows of paused tables (%s) wait until 'gameq-writer resume'; of the others: %s",
            tables, due.sentence());
  }

  private static NextStep unowned(OwnerTrace trace) {
    if (trace.mysql() == null) {
      return StepKind.UNOWNED.next(
          "Redis does not know who owns: a writer asks MySQL, which does not answer now.");
    }
    OwnerRecord raised = trace.raised();
    if (raised == null) {
      return StepKind.OF_NOBODY.next(
          "Redis does not know who owns, and MySQL has no session of this owner: nothing is flushed"
              + " until gameq_owner has it again; was an older backup restored?");
    }
    CountingSessions sessions = raised.sessions();
    return StepKind.UNOWNED.next(
        "Redis does not know who owns: the next writer asks MySQL, tells Redis that session %s"
            + " does, and flushes what is its.",
        String.valueOf(sessions.opening() ? sessions.holder(null) : sessions.newest()));
  }

  private static NextStep dueOrParked(OwnerTrace trace, RedisOwner redis, SessionRows waits) {
    Map.Entry<String, String> parked = trace.itsParkedTables().firstEntry();
    if (parked != null) {
      return StepKind.PARKED.next(
          "table %s takes no rows now, or not all (%s): they wait, and are tried again every 5 s;"
              + " they go on by themselves once the table is mended.",
          parked.getKey(), parked.getValue());
    }
    OwnerRecord raised = trace.raised();
    String unless =
        raised == null || CountingSessions.counts(raised.sessions(), waits.session())
            ? ""
            : Shown.line(
                ", but by MySQL session %s owns: its open adopts the rows, or they are parked as"
                    + " stale",
                raised.sessions().newest());
    long millis = waits.ready() ? 0 : waits.dueMillis() - redis.nowMillis();
    ClaimRecord claim = redis.claim();
    if (claim != null && claim.refusedSinceMillis() > 0) {
      return StepKind.REFUSED.next(
          "MySQL refuses a row of it since %s, after %s: tried again %s; a row that it goes on"
              + " refusing is set aside as a dead letter%s.",
          Shown.duration(redis.nowMillis() - claim.refusedSinceMillis()),
          Shown.count(claim.attempts(), "attempt"),
          millis > 0 ? "in " + Shown.duration(millis) : "now",
          unless);
    }
    if (millis > 0) {
      return StepKind.DUE_LATER.next(
          "due in %s: the next writer takes it then%s.", Shown.duration(millis), unless);
    }
    return waits.dueMillis() > 0 && -millis > LATE_MILLIS
        ? StepKind.OVERDUE.next(
            "due since %s and not claimed: does a writer run, and does it reach MySQL"
                + " ('gameq-writer status')?",
            Shown.duration(-millis))
        : StepKind.DUE_NOW.next("due now: the next writer takes it%s.", unless);
  }

  /** Nothing waits to be flushed. */
  private static NextStep ofRest(OwnerTrace trace, RedisOwner redis) {
    MySqlOwner mysql = trace.mysql();
    if (mysql == null) {
      return StepKind.CANNOT_TELL.next("nothing waits in Redis; MySQL does not answer.");
    }
    if (mysql.deadLetters() > 0) {
      return deadLetters(
          trace, "nothing waits, and MySQL has refused " + rows(mysql.deadLetters()));
    }
    if (redis.sessions().stream().anyMatch(of -> of.stale() && of.dirty() != null)) {
      return StepKind.STALE.next(
          "stale rows are never flushed: look at them with 'gameq-writer stale show %s', then"
              + " discard them.",
          trace.owner().id());
    }
    if (!redis.healing()) {
      return StepKind.NOTHING.next("nothing: all of it is in MySQL.");
    }
    String node = trace.aliveNode();
    return node == null
        ? StepKind.HEALING.next(
            "rows that Redis lost may be missing, and the node that has them gives no sign of life:"
                + " start it again, or replay its WAL with gameq-recovery.")
        : StepKind.HEALING.next(
            "node %s puts back what Redis lost of it; nothing is to be done.", node);
  }

  /**
   * Where one owner is, as both servers tell. They are asked one after the other: what moves
   * meanwhile may be missed. Immutable.
   *
   * @param redis null when Redis does not answer
   * @param redisError why
   * @param mysql null when MySQL does not answer
   * @param mysqlError why
   * @param aliveNode the node of the session that holds the owner, if it gives signs of life
   * @param pauses of all, the owner's slot, and tables
   * @param parked tables that take no rows now, and why
   */
  public record OwnerTrace(
      OwnerId owner,
      int slot,
      @Nullable RedisOwner redis,
      String redisError,
      @Nullable MySqlOwner mysql,
      String mysqlError,
      @Nullable String aliveNode,
      List<WriterPause> pauses,
      Map<String, String> parked) {

    /** Whether any server knows of the owner. */
    public boolean isKnown() {
      return (redis != null && redis.isKnown()) || (mysql != null && mysql.isKnown());
    }

    /** The durable session, if MySQL knows one. */
    @Nullable OwnerRecord raised() {
      return mysql == null ? null : mysql.raised();
    }

    /** The session that holds an owner by both servers; null when neither knows one. */
    static @Nullable SessionId holder(@Nullable MySqlOwner mysql, RedisOwner redis) {
      OwnerRecord raised = mysql == null ? null : mysql.raised();
      return raised == null ? redis.ownedBy() : raised.sessions().holder(redis.ownedBy());
    }

    /** What pauses everything of the owner; null when nothing does. */
    @Nullable WriterPause pauseOfAll() {
      return pauses.stream()
          .filter(of -> of.scope() == Scope.ALL || of.scope() == Scope.SLOT)
          .findFirst()
          .orElse(null);
    }

    /** The tables of the owner's rows that are paused. */
    Set<String> pausedTables() {
      return itsPauses().stream()
          .filter(of -> of.scope() == Scope.TABLE)
          .map(WriterPause::name)
          .collect(Collectors.toSet());
    }

    /** The pauses that hold back rows of the owner, if it has any of their tables. */
    public List<WriterPause> itsPauses() {
      Set<String> waiting = waitingTables();
      return pauses.stream()
          .filter(of -> of.scope() != Scope.TABLE || waiting.contains(of.name()))
          .toList();
    }

    /** The parked tables of the owner's rows, and why. */
    public NavigableMap<String, String> itsParkedTables() {
      NavigableMap<String, String> all = new TreeMap<>(parked);
      all.keySet().retainAll(waitingTables());
      return all;
    }

    /** The tables of rows that are dirty or claimed. */
    Set<String> waitingTables() {
      return Stream.ofNullable(redis)
          .flatMap(RedisOwner::withInboxes)
          .flatMap(
              of ->
                  Stream.concat(
                      of.sessions().stream().filter(in -> !in.stale()).map(SessionRows::dirty),
                      Stream.of(of).map(RedisOwner::claimed)))
          .filter(Objects::nonNull)
          .flatMap(of -> of.tables().keySet().stream())
          .collect(Collectors.toSet());
    }
  }
}
