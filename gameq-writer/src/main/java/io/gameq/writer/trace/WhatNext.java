package io.gameq.writer.trace;

import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.terminal.Shown;
import io.gameq.writer.mysql.OwnerInMySql;
import io.gameq.writer.mysql.OwnerInMySql.Raised;
import io.gameq.writer.mysql.PauseTable.Pause;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.redis.OwnerInRedis;
import io.gameq.writer.redis.OwnerInRedis.ClaimRecord;
import io.gameq.writer.redis.OwnerInRedis.InSession;
import io.gameq.writer.redis.OwnerInRedis.TracedRows;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
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
public record WhatNext(Kind kind, String sentence) {
  /** An owner that is due for longer is not being looked at. */
  private static final long LATE_MILLIS = 5_000;

  /** How the owner stands. */
  public enum Kind {
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

    Kind(boolean isToAct) {
      this.isToAct = isToAct;
    }

    /** Whether somebody has to do something. */
    public boolean isToAct() {
      return isToAct;
    }
  }

  /** Decides for an owner. */
  public static WhatNext of(OwnerTrace trace) {
    OwnerInRedis redis = trace.redis();
    if (redis == null) {
      return next(
          Kind.CANNOT_TELL, "Redis does not answer: what waits there is not known, and waits.");
    }
    if (!trace.isKnown()) {
      return trace.mysql() == null
          ? next(Kind.CANNOT_TELL, "Redis knows nothing of it, and MySQL does not answer.")
          : next(Kind.NOT_KNOWN, "neither Redis nor MySQL knows this owner: nobody has opened it.");
    }
    if (!redis.foreign().isEmpty()) {
      return next(
          Kind.BROKEN,
          "%s holds somebody else's value and is in the way: 'gameq-writer doctor' tells more."
              .formatted(Shown.text(redis.foreign().get(0))));
    }
    List<WhatNext> waiting =
        redis.withInboxes().map(of -> ofWaiting(trace, of)).filter(Objects::nonNull).toList();
    return waiting.stream()
        .filter(of -> of.kind().isToAct())
        .findFirst()
        .or(() -> waiting.stream().findFirst().map(of -> besideDeadLetters(trace, of)))
        .orElseGet(() -> ofRest(trace, redis));
  }

  private static WhatNext besideDeadLetters(OwnerTrace trace, WhatNext of) {
    long dead = trace.mysql() == null ? 0 : trace.mysql().deadLetters();
    return dead == 0
        ? of
        : next(
            Kind.DEAD_LETTERS,
            "%s Before, MySQL has refused %s: %s"
                .formatted(of.sentence(), Shown.count(dead, "row"), mendLetters(trace)));
  }

  private static String mendLetters(OwnerTrace trace) {
    String owner = Shown.text(trace.owner().id());
    return ("mend the cause, then 'gameq-writer dead retry --owner %s', or 'gameq-writer dead"
            + " discard --owner %s'.")
        .formatted(owner, owner);
  }

  /** Of what waits under the owner's sessions, or in one inbox. */
  private static @Nullable WhatNext ofWaiting(OwnerTrace trace, OwnerInRedis redis) {
    WhatNext ofClaim = ofClaim(redis);
    return ofClaim == null ? ofDirty(trace, redis) : ofClaim;
  }

  private static WhatNext next(Kind kind, String sentence) {
    return new WhatNext(kind, sentence);
  }

  private static @Nullable WhatNext ofClaim(OwnerInRedis redis) {
    ClaimRecord claim = redis.claim();
    if (claim == null || !claim.isHeld()) {
      return redis.claimed() == null
          ? null
          : broken("its rows are claimed and nobody has the claim: they would wait for ever");
    }
    String writer = Shown.text(claim.writer());
    if (redis.claimed() == null) {
      return broken("writer %s has a claim of which the rows are gone".formatted(writer));
    }
    if (redis.leaseEndsMillis() == OwnerInRedis.NONE) {
      return broken("writer %s has a claim without a lease, which never ends".formatted(writer));
    }
    long left = redis.leaseEndsMillis() - redis.nowMillis();
    if (left < 0) {
      return next(
          Kind.LAPSED,
          ("the lease of writer %s ran out %s ago: the next writer that looks takes the rows"
                      + " back")
                  .formatted(writer, Shown.duration(-left))
              + " and flushes them.");
    }
    String more =
        redis.owned().filter(of -> of.dirty() != null).isPresent()
            ? "; what was committed since is due then"
            : "";
    return next(
        Kind.CLAIMED,
        "writer %s flushes it now; if that writer has died, another takes it back in %s%s."
            .formatted(writer, Shown.duration(left), more));
  }

  private static WhatNext broken(String what) {
    return next(Kind.BROKEN, what + ": 'gameq-writer doctor' says what to do.");
  }

  private static @Nullable WhatNext ofDirty(OwnerTrace trace, OwnerInRedis redis) {
    List<InSession> waiting =
        redis.sessions().stream().filter(of -> of.dirty() != null && !of.stale()).toList();
    if (waiting.isEmpty()) {
      return null;
    }
    InSession newest = waiting.get(waiting.size() - 1);
    if (!newest.isAwaited()) {
      return broken("it has dirty rows and nothing makes them due");
    }
    Pause pause = trace.pauseOfAll();
    if (pause != null) {
      return paused(pause);
    }
    SessionId owns = redis.ownedBy();
    if (owns == null) {
      return unowned(trace);
    }
    if (owns.isNewerThan(newest.session())) {
      return next(
          Kind.STALE,
          ("session %s committed after it had lost the owner: the next writer parks its"
                      + " rows, which")
                  .formatted(newest.session())
              + " are never flushed ('gameq-writer stale').");
    }
    Set<String> paused = new TreeSet<>(trace.pausedTables());
    if (!paused.isEmpty() && paused.containsAll(trace.waitingTables())) {
      return next(
          Kind.PAUSED,
          "all of its rows are of paused tables (%s): they wait until 'gameq-writer resume'."
              .formatted(Shown.text(String.join(", ", paused))));
    }
    WhatNext due = parked(trace).orElseGet(() -> due(trace, redis, newest));
    return paused.isEmpty()
        ? due
        : next(
            Kind.PAUSED,
            "its rows of paused tables (%s) wait until 'gameq-writer resume'; of the others: %s"
                .formatted(Shown.text(String.join(", ", paused)), due.sentence()));
  }

  private static Optional<WhatNext> parked(OwnerTrace trace) {
    return trace.itsParkedTables().entrySet().stream()
        .findFirst()
        .map(
            of ->
                next(
                    Kind.PARKED,
                    ("table %s takes no rows now, or not all (%s): they wait, and are tried again"
                                + " every 5 s")
                            .formatted(Shown.text(of.getKey()), Shown.text(of.getValue()))
                        + "; they go on by themselves once the table is mended."));
  }

  private static WhatNext paused(Pause pause) {
    String what = pause.scope() == Scope.ALL ? "everything" : "slot " + pause.name();
    return next(
        Kind.PAUSED,
        "%s is paused by %s since %s UTC (%s): it waits until 'gameq-writer resume'."
            .formatted(
                what, Shown.text(pause.by()), Shown.utc(pause.at()), Shown.text(pause.reason())));
  }

  private static WhatNext unowned(OwnerTrace trace) {
    if (trace.mysql() == null) {
      return next(
          Kind.UNOWNED,
          "Redis does not know who owns: a writer asks MySQL, which does not answer now.");
    }
    Raised raised = trace.raised();
    if (raised == null) {
      return next(
          Kind.OF_NOBODY,
          "Redis does not know who owns, and MySQL has no session of this owner: nothing is flushed"
              + " until gameq_owner has it again; was an older backup restored?");
    }
    CountingSessions sessions = raised.sessions();
    return next(
        Kind.UNOWNED,
        ("Redis does not know who owns: the next writer asks MySQL, tells Redis that session"
                    + " %s")
                .formatted(sessions.opening() ? sessions.holder(null) : sessions.newest())
            + " does, and flushes what is its.");
  }

  private static WhatNext due(OwnerTrace trace, OwnerInRedis redis, InSession waits) {
    Raised raised = trace.raised();
    String unless = "";
    if (raised != null && !CountingSessions.counts(raised.sessions(), waits.session())) {
      unless =
          (", but by MySQL session %s owns: its open adopts the rows, or they are parked as"
                  + " stale")
              .formatted(raised.sessions().newest());
    }
    long millis = waits.ready() ? 0 : waits.dueMillis() - redis.nowMillis();
    ClaimRecord claim = redis.claim();
    if (claim != null && claim.refusedSinceMillis() > 0) {
      return next(
          Kind.REFUSED,
          ("MySQL refuses a row of it since %s, after %s: tried again %s; a row that it goes"
                      + " on")
                  .formatted(
                      Shown.duration(redis.nowMillis() - claim.refusedSinceMillis()),
                      Shown.count(claim.attempts(), "attempt"),
                      millis > 0 ? "in " + Shown.duration(millis) : "now")
              + " refusing is set aside as a dead letter%s.".formatted(unless));
    }
    if (millis > 0) {
      return next(
          Kind.DUE_LATER,
          "due in %s: the next writer takes it then%s.".formatted(Shown.duration(millis), unless));
    }
    if (waits.dueMillis() > 0 && -millis > LATE_MILLIS) {
      return next(
          Kind.OVERDUE,
          ("due since %s and not claimed: does a writer run, and does it reach MySQL"
                      + " ('gameq-writer")
                  .formatted(Shown.duration(-millis))
              + " status')?");
    }
    return next(Kind.DUE_NOW, "due now: the next writer takes it%s.".formatted(unless));
  }

  /** Nothing waits to be flushed. */
  private static WhatNext ofRest(OwnerTrace trace, OwnerInRedis redis) {
    String owner = Shown.text(trace.owner().id());
    OwnerInMySql mysql = trace.mysql();
    if (mysql == null) {
      return next(Kind.CANNOT_TELL, "nothing waits in Redis; MySQL does not answer.");
    }
    if (mysql.deadLetters() > 0) {
      return next(
          Kind.DEAD_LETTERS,
          "nothing waits, and MySQL has refused %s: %s"
              .formatted(Shown.count(mysql.deadLetters(), "row"), mendLetters(trace)));
    }
    if (redis.sessions().stream().anyMatch(of -> of.stale() && of.dirty() != null)) {
      return next(
          Kind.STALE,
          ("stale rows are never flushed: look at them with 'gameq-writer stale show %s',"
                      + " then")
                  .formatted(owner)
              + " discard them.");
    }
    if (redis.healing()) {
      return next(
          Kind.HEALING,
          trace.aliveNode() == null
              ? "rows that Redis lost may be missing, and the node that has them gives no sign of"
                  + " life: start it again, or replay its WAL with gameq-recovery."
              : "node %s puts back what Redis lost of it; nothing is to be done."
                  .formatted(Shown.text(Objects.requireNonNull(trace.aliveNode()))));
    }
    return next(Kind.NOTHING, "nothing: all of it is in MySQL.");
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
      @Nullable OwnerInRedis redis,
      String redisError,
      @Nullable OwnerInMySql mysql,
      String mysqlError,
      @Nullable String aliveNode,
      List<Pause> pauses,
      Map<String, String> parked) {
    public OwnerTrace {
      pauses = List.copyOf(pauses);
      parked = Map.copyOf(parked);
    }

    /** Whether any server knows of the owner. */
    public boolean isKnown() {
      return (redis != null && redis.isKnown()) || (mysql != null && mysql.isKnown());
    }

    /** The durable session, if MySQL knows one. */
    @Nullable Raised raised() {
      return mysql == null ? null : mysql.raised();
    }

    /** The session that holds an owner by both servers; null when neither knows one. */
    static @Nullable SessionId holder(@Nullable OwnerInMySql mysql, OwnerInRedis redis) {
      Raised raised = mysql == null ? null : mysql.raised();
      return raised == null ? redis.ownedBy() : raised.sessions().holder(redis.ownedBy());
    }

    /** What pauses everything of the owner; null when nothing does. */
    @Nullable Pause pauseOfAll() {
      return pauses.stream()
          .filter(of -> of.scope() == Scope.ALL || of.scope() == Scope.SLOT)
          .findFirst()
          .orElse(null);
    }

    /** The tables of the owner's rows that are paused. */
    Set<String> pausedTables() {
      return itsPauses().stream()
          .filter(of -> of.scope() == Scope.TABLE)
          .map(Pause::name)
          .collect(Collectors.toSet());
    }

    /** The pauses that hold back rows of the owner, if it has any of their tables. */
    public List<Pause> itsPauses() {
      Set<String> waiting = waitingTables();
      return pauses.stream()
          .filter(of -> of.scope() != Scope.TABLE || waiting.contains(of.name()))
          .toList();
    }

    /** The parked tables of the owner's rows, and why. */
    public Map<String, String> itsParkedTables() {
      Map<String, String> all = new TreeMap<>(parked);
      all.keySet().retainAll(waitingTables());
      return all;
    }

    /** The tables of rows that are dirty or claimed. */
    Set<String> waitingTables() {
      return waiting().flatMap(of -> of.tables().keySet().stream()).collect(Collectors.toSet());
    }

    private Stream<TracedRows> waiting() {
      return redis == null ? Stream.of() : redis.withInboxes().flatMap(OwnerTrace::waiting);
    }

    private static Stream<TracedRows> waiting(OwnerInRedis redis) {
      return Stream.concat(
              redis.sessions().stream().filter(of -> !of.stale()).map(InSession::dirty),
              Stream.ofNullable(redis.claimed()))
          .filter(Objects::nonNull);
    }
  }
}
