package io.gameq.writer.flush;

import static java.util.Map.entry;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.RedisUnavailableException;
import io.gameq.agent.RepeatedWarnings;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.Publish;
import io.gameq.mysql.MySqlErrors;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.FlushPlan;
import io.gameq.mysql.flush.FlushPlan.OwnerRows;
import io.gameq.mysql.flush.FlushPlan.Written;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.script.MessagesScript;
import io.gameq.redis.script.SessionScripts;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.HandledRow;
import io.gameq.terminal.Shown;
import io.gameq.writer.flush.RowDecoder.DecodedClaim;
import io.gameq.writer.flush.SlotSchedule.ClaimResult;
import io.gameq.writer.flush.SlotSchedule.SlotShare;
import io.gameq.writer.flush.SlowLane.LeaseRenewal;
import io.gameq.writer.flush.Stage.FlushKind;
import io.gameq.writer.redis.StaleRows;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.helpers.MessageFormatter;

/**
 * A writer's turn with some slots. {@link #next} does one step on one server and decides what
 * follows; a {@link Stage} is where the turn stands. Workers, the slow lane and the explorer, which
 * tries every interleaving, take these very steps. Killed anywhere, it loses nothing: what was
 * claimed comes back when the lease runs out, and flushing twice changes nothing. Used by one
 * thread.
 */
public class SlotTurn {
  private static final Logger LOG = LoggerFactory.getLogger(SlotTurn.class);

  /** Redis does nothing else while a script claims: rows of one call. */
  private static final int MOST_ROWS_OF_CALL = 500;

  /** Rows whose lease ran out so often are flushed alone, as claim.lua takes them. */
  private static final int LAPSES_OF_SUSPECTS = 2;

  /** Rows whose lease ran out so often, though they were flushed alone, are set aside. */
  private static final int MOST_LAPSES = 5;

  /** A newer session owns: by then the rows are its own. */
  private static final long NOT_OWNED_DELAY_MILLIS = 1_000;

  /** Values of the tag {@code step} of {@code gameq.writer.step}. */
  private static final Map<Class<? extends Stage>, String> METER_TAGS =
      Map.ofEntries(
          entry(Stage.Reap.class, "reaping"),
          entry(Stage.ClaimDue.class, "claiming"),
          entry(Stage.Decode.class, "decoding"),
          entry(Stage.Flush.class, "flushing"),
          entry(Stage.Acknowledge.class, "acknowledging"),
          entry(Stage.GiveBack.class, "giving_back"),
          entry(Stage.Leave.class, "leaving"),
          entry(Stage.RereadTable.class, "rereading_table"),
          entry(Stage.RereadCatalog.class, "rereading_catalog"),
          entry(Stage.GiveUp.class, "setting_aside"),
          entry(Stage.FindLostSessions.class, "asking_for_lost"),
          entry(Stage.RestoreSession.class, "restoring"),
          entry(Stage.FindOpenings.class, "asking_for_opening"),
          entry(Stage.FindUnowned.class, "asking_for_unowned"),
          entry(Stage.ReassertSession.class, "reasserting"),
          entry(Stage.FinishOpen.class, "finishing_open"),
          entry(Stage.FenceSession.class, "fencing"),
          entry(Stage.ParkStale.class, "parking"));

  /** What all turns of a writer share. Thread-safe. */
  public record TurnContext(
      WriterOptions options,
      Slots slots,
      OwnerTable sessions,
      OwnerReader reader,
      RowDecoder decoder,
      FlushTransaction flush,
      FlushBlockers blockers,
      FlushPace pace,
      WriterStats stats,
      RepeatedWarnings warnings) {}

  private final TurnContext shared;
  private final Slots slots;
  private final FlushBlockers blockers;
  private final WriterStats stats;
  private final ControlConnection redis;
  private final PrimaryConnector.Opened primary;
  private final @Nullable SlowLane lane;
  private final boolean isInLane;
  private final Map<Integer, ClaimResult> claimed = new HashMap<>();
  private final Map<Integer, GameQueueException> failed = new HashMap<>();

  /**
   * A turn that has taken no step.
   *
   * @param redis leads to the primary, or to a new connection where that broke
   * @param primary what is claimed from
   * @param lane flushes apart who holds up others; null where nobody does
   * @param isInLane whether this is the lane's own turn: it goes on in smaller groups there
   */
  protected SlotTurn(
      TurnContext shared,
      ControlConnection redis,
      PrimaryConnector.Opened primary,
      @Nullable SlowLane lane,
      boolean isInLane) {
    this.shared = shared;
    this.slots = shared.slots();
    this.blockers = shared.blockers();
    this.stats = shared.stats();
    this.redis = redis;
    this.primary = primary;
    this.lane = lane;
    this.isInLane = isInLane;
  }

  /**
   * Takes all steps; renews the leases of what was claimed meanwhile.
   *
   * @throws MySqlException when MySQL does not answer and nothing is claimed any more
   * @throws GameQueueException when Redis does not answer: claims come back when their leases run
   *     out
   */
  void take(Stage first, LeaseRenewal leases) {
    Stage stage = first;
    while (!(stage instanceof Stage.End) && stage.claims().isEmpty()) {
      stage = next(stage);
    }
    try (LeaseRenewal.Lease held = leases.hold(stage.claims())) {
      takeHeld(stage);
    }
  }

  /** The same of claims whose leases somebody else renews. */
  void takeHeld(Stage first) {
    Stage stage = first;
    while (!(stage instanceof Stage.End)) {
      stage = next(stage);
    }
  }

  /** What was claimed of a slot. */
  ClaimResult claimed(int slot) {
    return claimed.getOrDefault(slot, ClaimResult.REAPED);
  }

  /** Rows that were claimed of all slots. */
  int rows() {
    return claimed.values().stream().mapToInt(ClaimResult::rows).sum();
  }

  /** Why nothing could be claimed of a slot, or null. */
  public @Nullable GameQueueException failed(int slot) {
    return failed.get(slot);
  }

  // --- what the explorer has in another way

  /** The connection of the turn, or a new one where it broke. */
  protected RedisConnection redis() {
    return redis.get();
  }

  /** Gives the connection up: its primary does not count any more. */
  protected void leave() {
    redis.close();
  }

  /** Tells whether other halves of handovers may come. */
  protected FlushPlan.Halves halves() {
    return this::mayCome;
  }

  /**
   * Whether the other half of a handover may still come. It waits in Redis; or Redis forgot the
   * session that has it in a failover, and neither its node nor gameq-recovery has put back yet
   * what it had. A session that opened without the half brings none.
   */
  private boolean mayCome(RowKey row, Set<OwnerId> from) {
    try {
      Map<OwnerId, CountingSessions> durable = shared.sessions().current(from);
      return from.stream()
          .anyMatch(
              owner -> {
                LookupScript.LookupResult looked =
                    LookupScript.look(redis(), slots.of(owner), owner, List.of(row.text()));
                return !looked.versions().isEmpty() || !looked.isAllOfOwner(durable.get(owner));
              });
    } catch (GameQueueException e) { // who cannot be asked may have it
      return true;
    }
  }

  /**
   * Does one step; returns where the turn stands then. A turn that ended stays as it is.
   *
   * @throws RedisUnavailableException when Redis does not answer: claims come back when their
   *     leases run out
   * @throws MySqlException when MySQL does not answer and nothing is claimed any more
   */
  public final Stage next(Stage stage) {
    String tag = METER_TAGS.get(stage.getClass());
    if (tag == null) {
      return stage;
    }
    long began = System.nanoTime();
    try {
      return step(stage);
    } finally {
      stats.tookStep(tag, System.nanoTime() - began);
    }
  }

  /** Where MySQL is away before anything was sent there, what is in hand is given back. */
  private Stage step(Stage stage) {
    try {
      return done(stage);
    } catch (MySqlException e) {
      if (stage instanceof Stage.RereadTable) {
        return outage(stage.then(), e.getMessage());
      }
      if (stage instanceof Stage.Decode
          || stage instanceof Stage.RereadCatalog
          || stage instanceof Stage.GiveUp) {
        return outage(stage, e.getMessage());
      }
      throw e;
    }
  }

  private Stage done(Stage stage) {
    Stage then = stage.then();
    if (stage instanceof Stage.Reap of) {
      List<ClaimScript.ReapedClaim> reaped = ClaimScript.reap(redis(), slots.get(of.slot()));
      stats.reaped(reaped.size());
      for (ClaimScript.ReapedClaim one : reaped) {
        warn("took back owner %s from writer %s, whose lease ran out", one.owner(), one.writer());
      }
      return reaped.size() == ClaimScript.MOST_REAPED ? of : then;
    }
    if (stage instanceof Stage.ClaimDue of) {
      return claim(of);
    }
    if (stage instanceof Stage.Decode of) {
      return new Stage.Flush(shared.decoder().decode(of.batch()), of.kind(), of.triesLeft(), then);
    }
    if (stage instanceof Stage.Flush of) {
      FlushTransaction.Outcome outcome = flush(of);
      stats.ended(outcome);
      return outcome instanceof FlushTransaction.Committed committed
          ? committed(of, committed)
          : failed(of, (FlushTransaction.Failure) outcome);
    }
    if (stage instanceof Stage.Acknowledge of) {
      acknowledge(of);
      return then;
    }
    if (stage instanceof Stage.GiveBack of) {
      giveBack(of);
      return then;
    }
    if (stage instanceof Stage.Leave of) {
      try {
        giveBack(Stage.GiveBack.forNextTurn(of.batch(), then));
        return then;
      } finally {
        leave();
      }
    }
    if (stage instanceof Stage.RereadTable of) {
      if (!shared.decoder().isAltered(of.table())) {
        blockers.tables().park(of.table().name(), of.reason());
      }
      return then;
    }
    if (stage instanceof Stage.RereadCatalog of) {
      boolean unused = shared.decoder().reloadCatalog();
      return untilRetry(of.claim(), of.reason(), then);
    }
    if (stage instanceof Stage.GiveUp of) {
      DecodedClaim decoded = shared.decoder().givenUp(of.claim(), of.reason(), shared.reader());
      return new Stage.Flush(Map.of(of.claim().owner(), decoded), FlushKind.SETTING_ASIDE, 1, then);
    }
    if (stage instanceof Stage.FindLostSessions of) {
      List<OwnerId> owners = of.notOwned().stream().map(Claim::owner).toList();
      Map<OwnerId, CountingSessions> durable = shared.sessions().current(owners);
      Stage next = new Stage.FindOpenings(owners, then);
      for (Claim claim : of.notOwned()) {
        CountingSessions sessions = durable.get(claim.owner());
        if (claim.session().isNewerThan(sessions == null ? null : sessions.newest())) {
          next = new Stage.RestoreSession(claim.owner(), claim.session(), next);
        }
      }
      return next;
    }
    if (stage instanceof Stage.RestoreSession of) {
      warn("MySQL lost session %s of %s: writing it again", of.session(), of.owner());
      try {
        if (!shared.sessions().restore(of.owner(), of.session())) {
          warn(
              "session %s of %s is not written: a later one is there, or the owner was purged",
              of.session(), of.owner());
        }
      } catch (MySqlException e) {
        if (!MySqlErrors.isTryAgain(e)) { // somebody locked him: he is tried with his next claim
          throw e;
        }
      }
      return then;
    }
    if (stage instanceof Stage.FindOpenings of) {
      Map<OwnerId, CountingSessions> durable =
          shared.sessions().raisedBefore(of.owners(), shared.options().bounds().leaseMillis());
      Stage next = then;
      for (OwnerId owner : of.owners()) {
        CountingSessions sessions = durable.get(owner);
        next = sessions == null ? next : reassert(owner, sessions, next);
      }
      return next;
    }
    if (stage instanceof Stage.FindUnowned of) {
      OwnerId owner = of.unowned().owner();
      CountingSessions durable = shared.sessions().current(List.of(owner)).get(owner);
      if (durable == null) {
        error(
            "owner %s has unflushed rows of session %s but no row in gameq_owner: they"
                + " stay in Redis",
            owner, of.unowned().session());
        return then;
      }
      return reassert(owner, durable, then);
    }
    if (stage instanceof Stage.ReassertSession of) {
      SessionId lastOpen = Objects.requireNonNull(of.durable().lastOpen());
      return SessionScripts.reassert(redis(), slots.of(of.owner()), of.owner(), lastOpen)
          ? then
          : finishOpen(of.owner(), of.durable(), then);
    }
    if (stage instanceof Stage.FinishOpen of) {
      warn("finishing the open of %s by session %s, whose node is gone", of.owner(), of.session());
      SessionScripts.open(redis(), slots.of(of.owner()), of.owner(), of.session(), 0, true);
      return then;
    }
    if (stage instanceof Stage.FenceSession of) {
      SessionScripts.fence(redis(), slots.of(of.owner()), of.owner(), of.by());
      return then;
    }
    parkStale(((Stage.ParkStale) stage).rows());
    return then;
  }

  private void warn(String text, Object... of) {
    say(LOG::warn, text, of);
  }

  private void error(String text, Object... of) {
    say(LOG::error, text, of);
  }

  /** Says a text, with a %s for each of these; not again for each of many owners. */
  private void say(Consumer<String> log, String text, Object... of) {
    String template = text.replace("%s", "{}");
    shared
        .warnings()
        .about(text, log, () -> MessageFormatter.arrayFormat(template, of).getMessage());
  }

  private SlowLane lane() {
    return Objects.requireNonNull(lane, "nobody holds up others here");
  }

  // --- claim

  /**
   * Claims in one round trip. A slot in which that fails does not disturb the others. Redis may be
   * away for all of them, but what is claimed already is flushed.
   */
  private Stage claim(Stage.ClaimDue of) {
    List<SlotShare> parts = of.shares().stream().flatMap(SlotTurn::parts).toList();
    List<LuaScript.Answer<ClaimScript.Batch>> taken =
        new ClaimScript(shared.options().name(), shared.options().bounds())
            .callEach(
                primary.redis(),
                parts.stream()
                    .map(
                        part ->
                            new ClaimScript.Share(
                                slots.get(part.slot()), part.owners(), part.rows()))
                    .toList(),
                of.isUrgent());
    List<Claim> claims = new ArrayList<>();
    Stage next = of.then();
    for (int i = 0; i < parts.size(); i++) {
      int slot = parts.get(i).slot();
      ClaimScript.Batch batch = taken.get(i).reply();
      if (batch == null) {
        GameQueueException error = Objects.requireNonNull(taken.get(i).error());
        if (error instanceof RedisUnavailableException && claims.isEmpty()) {
          throw error;
        }
        failed.put(slot, error);
        continue;
      }
      int rows = batch.claims().stream().mapToInt(one -> one.rows().size()).sum();
      claimed.merge(
          slot,
          new ClaimResult(batch.claims().size(), rows, batch.waitMillis()),
          ClaimResult::plus);
      for (String key : batch.broken()) {
        error(
            "Redis key %s is not the hash that gameq keeps there: its owner is not"
                + " flushed; somebody else writes into gameq's keys, remove or rename it",
            key);
      }
      for (SlotKeys.DirtyOf stale : batch.stale()) {
        next = new Stage.ParkStale(stale, next);
      }
      for (SlotKeys.DirtyOf unowned : batch.unowned()) {
        next = new Stage.FindUnowned(unowned, next);
      }
      claims.addAll(batch.claims());
    }
    return withoutSuspects(claims, next);
  }

  /** A slot's share in parts, a call each. */
  private static Stream<SlotShare> parts(SlotShare of) {
    int parts = (of.rows() + MOST_ROWS_OF_CALL - 1) / MOST_ROWS_OF_CALL;
    return IntStream.range(0, parts)
        .mapToObj(
            i ->
                new SlotShare(
                    of.slot(), Math.max(1, (of.owners() + i) / parts), (of.rows() + i) / parts));
  }

  /** Leaves apart who may hold up the others. */
  private Stage withoutSuspects(List<Claim> claims, Stage then) {
    List<Claim> suspects = new ArrayList<>();
    List<Claim> rest = new ArrayList<>();
    Map<Claim, Long> paused = new LinkedHashMap<>();
    for (Claim claim : claims) {
      long millis = blockers.owners().pausedMillis(claim.owner());
      if (millis > 0) { // a commit since then has made him due
        paused.put(claim, millis);
      } else {
        (blockers.owners().contains(claim.owner()) ? suspects : rest).add(claim);
      }
    }
    Stage next = rest.isEmpty() ? then : withoutKillers(rest, then);
    if (!suspects.isEmpty() && (isInLane || !lane().takeSuspects(primary.term(), suspects))) {
      next = Stage.GiveBack.forWantOfRoom(suspects, next);
    }
    for (Map.Entry<Claim, Long> of : paused.entrySet()) {
      next = new Stage.GiveBack(List.of(of.getKey()), of.getValue(), false, next);
    }
    return next;
  }

  /**
   * Rows that may kill their writers come after the others, who are acknowledged by then, and one
   * at a time.
   */
  private static Stage withoutKillers(List<Claim> claims, Stage then) {
    List<Claim> others = new ArrayList<>(claims);
    List<Claim> suspects = new ArrayList<>();
    others.removeIf(claim -> claim.lapses() >= LAPSES_OF_SUSPECTS && suspects.add(claim));
    Stage next = then;
    if (!suspects.isEmpty()) {
      Claim alone = suspects.get(0);
      String reason =
          "its lease ran out %s times in a row: it may kill its writers".formatted(alone.lapses());
      next =
          alone.lapses() >= MOST_LAPSES
              ? new Stage.GiveUp(alone, reason, then)
              : Stage.Decode.together(List.of(alone), then);
    }
    if (!others.isEmpty()) {
      next = Stage.Decode.together(others, next);
    }
    return suspects.size() > 1
        ? Stage.GiveBack.forNextTurn(suspects.subList(1, suspects.size()), next)
        : next;
  }

  // --- flush

  private FlushTransaction.Outcome flush(Stage.Flush of) {
    List<OwnerRows> owners = of.asked();
    if (blockers.holdSomeBack()) { // refusals that such rows can cure are not counted
      owners = owners.stream().map(OwnerRows::notRefusedYet).toList();
    }
    if (of.kind() == FlushKind.APART) {
      blockers.owners().add(owners.get(0).owner()); // suspected until he is written
      return shared.flush().flushApart(primary.term(), owners.get(0), halves());
    }
    long began = System.nanoTime();
    FlushTransaction.Outcome outcome = shared.flush().flush(primary.term(), owners, halves());
    if (!isInLane // whom it flushes is slow by himself
        && (outcome instanceof FlushTransaction.Committed
            || outcome instanceof FlushTransaction.Slow)) {
      int rows = owners.stream().mapToInt(one -> one.rows().size()).sum();
      shared.pace().flushed(began, owners.size(), rows);
    }
    return outcome;
  }

  private Stage committed(Stage.Flush of, FlushTransaction.Committed committed) {
    Stage next = of.then();
    List<Claim> notOwned = new ArrayList<>(committed.notOwned().stream().map(of::claim).toList());
    if (!notOwned.isEmpty()) {
      next = new Stage.FindLostSessions(List.copyOf(notOwned), next);
    }
    for (FlushTransaction.Fenced fenced : committed.fenced()) {
      error(
          "session %s of %s was ended, and what it had committed is not written: %s;"
              + " see 'gameq-writer stale'",
          fenced.of().session(), fenced.of().owner(), fenced.why());
      next = new Stage.FenceSession(fenced.of().owner(), fenced.by(), next);
      notOwned.add(of.claim(fenced.of()));
    }
    stats.notOwned(notOwned.size());
    for (FlushPlan.HeldBack held : committed.heldBack()) {
      next = untilRetry(of.claim(held.of()), held.reason(), next);
    }
    if (!notOwned.isEmpty()) { // before MySQL is asked: what Redis is told then must find them
      next = new Stage.GiveBack(notOwned, NOT_OWNED_DELAY_MILLIS, false, next);
    }
    if (committed.written().isEmpty()) {
      return next;
    }
    blockers.mysql().passed();
    committed.written().forEach(this::warnOfUnwritten);
    return new Stage.Acknowledge(of.rows(), committed.written(), next);
  }

  /** 'dead list' has all that are set aside. */
  private void warnOfUnwritten(Written written) {
    for (Refused row : written.setAside()) {
      shared
          .warnings()
          .about(
              "set aside " + row.table() + " " + row.errorCode(),
              LOG::error,
              () ->
                  "set aside %s:%s of %s in version %s as a dead letter after %s attempts: %s"
                      .formatted(
                          row.table(),
                          row.rowKey(),
                          row.owner(),
                          Long.toUnsignedString(row.version()),
                          row.attempts(),
                          row.errorText()));
    }
    for (RowChange row : written.kept()) {
      warn(
          "%s of %s waits in Redis for the other half of a handover, or while many"
              + " rows of its owner are slow; a half until its node heals, its owner is"
              + " opened again, or gameq-recovery replays its WAL",
          row.key(), row.owner());
    }
  }

  private Stage failed(Stage.Flush of, FlushTransaction.Failure failure) {
    List<Claim> batch = of.batch();
    String reason = failure.reason();
    if (failure instanceof FlushTransaction.Demoted) {
      warn("%s owners are left to the new primary: %s", batch.size(), reason);
      return new Stage.Leave(of.claims(), new Stage.End());
    }
    if (failure instanceof FlushTransaction.TableRefused refused) {
      return new Stage.RereadTable(refused.table(), reason, again(of, batch));
    }
    if (failure instanceof FlushTransaction.TablesLocked locked) {
      locked.tables().forEach(table -> blockers.tables().park(table, reason));
      return again(of, batch);
    }
    if (failure instanceof FlushTransaction.Locked locked && !locked.owners().isEmpty()) {
      List<Claim> ofLocked =
          batch.stream().filter(claim -> locked.owners().contains(claim.owner())).toList();
      Stage next =
          again(
              of,
              batch.stream().filter(claim -> !locked.owners().contains(claim.owner())).toList());
      for (Claim claim : ofLocked) {
        next = locked(claim, reason, next);
      }
      return next;
    }
    if (failure instanceof FlushTransaction.Outage outage) {
      if (!outage.midway() || !blockers.mysql().answers()) {
        return outage(of, reason);
      }
      if (of.kind() == FlushKind.TOGETHER && of.triesLeft() > 1) {
        return again(of, batch); // most often it was the connection
      }
    }
    // One of the owners may be why, since MySQL answers.
    return switch (of.kind()) {
      case TOGETHER -> {
        blockers.mysql().heldUp(reason);
        warn(
            "one of %s owners holds up the others (%s): they are flushed apart",
            batch.size(), reason);
        yield lane().takeBatch(primary.term(), batch, isInLane)
            ? of.then()
            : Stage.GiveBack.forWantOfRoom(batch, of.then());
      }
      case APART -> failedAlone(batch.get(0), failure, of.then());
      case SETTING_ASIDE -> untilRetry(batch.get(0), reason, of.then());
    };
  }

  /** The rest may pass, now that it is known why it did not. */
  private static Stage again(Stage.Flush of, List<Claim> rest) {
    if (rest.isEmpty()) {
      return of.then();
    }
    return of.triesLeft() > 1
        ? new Stage.Decode(rest, of.kind(), of.triesLeft() - 1, of.then())
        : Stage.GiveBack.forNextTurn(rest, of.then());
  }

  private Stage failedAlone(Claim claim, FlushTransaction.Failure failure, Stage then) {
    if (failure instanceof FlushTransaction.Locked) {
      return locked(claim, failure.reason(), then);
    }
    boolean broke = failure instanceof FlushTransaction.Outage;
    int breaks = blockers.owners().breaks(claim.owner(), broke);
    return broke && shared.flush().isOutOfPatience(breaks, claim.refusedForMillis())
        ? new Stage.GiveUp(
            claim, "the connection broke with every attempt: " + failure.reason(), then)
        : new Stage.RereadCatalog(claim, failure.reason(), then);
  }

  // --- acknowledge and give back

  private void acknowledge(Stage.Acknowledge of) {
    ClaimScript.ack(
        redis(), slots, shared.options().namespace(), of.flushed(blockers.pauses().get().tables()));
    stats.flushed(of.written());
    if (!blockers.tables().isEmpty()) {
      blockers
          .tables()
          .passed(
              of.written().stream()
                  .flatMap(one -> one.of().rows().stream())
                  .map(row -> row.key().table().name())
                  .collect(Collectors.toSet()));
    }
    of.written().stream()
        .filter(one -> one.kept().isEmpty())
        .forEach(one -> blockers.owners().remove(one.of().owner()));
  }

  private void giveBack(Stage.GiveBack of) {
    ClaimScript.nack(redis(), slots, of.delayMillis(), of.countsAsAttempt(), of.batch());
    stats.gaveBack(of.batch().size());
  }

  /** Nothing about the rows of this step. */
  private Stage outage(Stage at, String reason) {
    long unused = blockers.mysql().close(reason);
    return at.batch().isEmpty() ? at.then() : Stage.GiveBack.forNextTurn(at.batch(), at.then());
  }

  /** Somebody has locked the owner, or a row of his. */
  private Stage locked(Claim claim, String reason, Stage then) {
    long delayMillis = blockers.owners().delayMillis(claim.owner());
    say(
        LOG::info,
        "owner %s is locked in MySQL (%s); trying again in %s",
        claim.owner(),
        reason,
        Shown.duration(delayMillis));
    return new Stage.GiveBack(List.of(claim), delayMillis, false, then);
  }

  /** A row was refused that may pass later: what it needs may be paused, which is not its fault. */
  private Stage untilRetry(Claim claim, String reason, Stage then) {
    boolean isItsFault = !blockers.holdSomeBack();
    long delayMillis =
        isItsFault
            ? shared.options().retryDelayMillis(claim.attempts(), claim.refusedForMillis())
            : FlushBlockers.RETRY_MILLIS;
    warn(
        "owner %s cannot be flushed yet (%s), attempt %s; trying again in %s",
        claim.owner(), reason, claim.attempts(), Shown.duration(delayMillis));
    return new Stage.GiveBack(List.of(claim), delayMillis, isItsFault, then);
  }

  // --- sessions

  /** The durable sessions have not changed for so long that no open is under way. */
  private static Stage reassert(OwnerId owner, CountingSessions durable, Stage then) {
    return durable.lastOpen() != null
        ? new Stage.ReassertSession(owner, durable, then)
        : finishOpen(owner, durable, then);
  }

  /** Where a later session owns that counts no more, the open that came after it is finished. */
  private static Stage finishOpen(OwnerId owner, CountingSessions durable, Stage then) {
    return durable.opening() ? new Stage.FinishOpen(owner, durable.newest(), then) : then;
  }

  private void parkStale(SlotKeys.DirtyOf rows) {
    RedisConnection redis = redis();
    StaleRows.HandledMessages inRedis = StaleRows.handled(redis, slots, rows);
    if (inRedis.mayComeBack()) {
      return; // it is due again in a while
    }
    List<RowChange> handled = shared.decoder().handled(rows.owner(), inRedis.rows());
    Map<String, Publish> messages = new LinkedHashMap<>(); // each once, despite two handlers
    for (RowChange row : handled.isEmpty() ? handled : shared.reader().handledByNobody(handled)) {
      HandledRow.Message of = HandledRow.carried(row.key(), row.encoded());
      if (of != null) {
        messages.put(
            HandledRow.handling(row.key().text()),
            new Publish(
                new MessageId(of.topic(), of.id()),
                of.slot(),
                of.dueMillis(),
                false,
                0,
                of.value()));
      }
    }
    if (!messages.isEmpty()) {
      List<Publish> all = List.copyOf(messages.values());
      MessagesScript.giveBack(redis, slots.all(), all);
      warn(
          "gave back %s messages that session %s of %s had handled with rows that do"
              + " not count, as %s/%s: they are handled again",
          all.size(), rows.session(), rows.owner(), all.get(0).id().topic(), all.get(0).id().id());
    }
    if (StaleRows.park(redis, slots.of(rows.owner()), rows)) {
      warn(
          "rows of %s by session %s, which has lost ownership, are kept and never"
              + " flushed, see 'gameq-writer stale'",
          rows.owner(), rows.session());
      stats.foundStale();
    }
  }
}
