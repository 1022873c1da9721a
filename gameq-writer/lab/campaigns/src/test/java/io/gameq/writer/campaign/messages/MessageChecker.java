package io.gameq.writer.campaign.messages;

import io.gameq.writer.campaign.messages.Errand.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Compares what nodes noted of messages with dead letters and rows at the end, when nothing is
 * pending or held any more. Used by one thread.
 */
public final class MessageChecker {
  private static final int MOST_VIOLATIONS = 50;

  /** Nodes know the time of Redis to half a round trip, which a busy machine prolongs. */
  private static final long CLOCK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Signs of life, every three seconds or so, tell nodes that Redis' clock was set. */
  private static final long TOLD_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final MessageHistory history;
  private final Set<String> dead;
  private final Set<String> rows;
  private final Trouble trouble;
  private final Map<String, List<Handled>> byId;
  private final Map<String, List<Published>> byKey;
  private final Set<String> ended = new HashSet<>();
  private final List<MessageViolation> violations = new ArrayList<>();

  /**
   * A checker.
   *
   * @param dead ids of all dead letters
   * @param rows ids of the commits of which a row was applied
   */
  public MessageChecker(
      MessageHistory history, Set<String> dead, Set<String> rows, Trouble trouble) {
    this.history = history;
    this.dead = dead;
    this.rows = rows;
    this.trouble = trouble;
    byId = history.handled().stream().collect(Collectors.groupingBy(of -> of.id));
    byKey =
        history.published.values().stream()
            .collect(Collectors.groupingBy(of -> of.topic + "/" + of.lane + of.key));
  }

  /** Everything that was broken, and how much there was. */
  public MessageOutcome check() {
    history.published.values().stream()
        .filter(of -> isHandled(of) || isDead(of))
        .forEach(of -> ended.add(of.id));
    history.published.values().forEach(this::checkOne);
    history.commits.forEach(this::checkWhole);
    byId.forEach(this::checkRows);
    dead.forEach(this::checkDead);
    byId.keySet().stream()
        .filter(id -> !history.published.containsKey(id))
        .forEach(id -> report(MessageViolation.Kind.REVIVED, id + ", which nobody published"));
    LaneChecks lanes = new LaneChecks(history, rows, trouble, this::report);
    lanes.check();
    return new MessageOutcome(
        history.published.values().stream().filter(of -> of.queuedAt != Long.MAX_VALUE).count(),
        history.published.values().stream().filter(this::isCovered).count() - dead.size(),
        lanes.twice(),
        dead.size(),
        violations);
  }

  /** Of a message with rows only a commit that was applied counts. */
  private boolean isHandled(Published of) {
    return byId.getOrDefault(of.id, List.of()).stream()
        .anyMatch(run -> of.kind == Kind.ROWS ? isApplied(run) : run.isDone());
  }

  private boolean isApplied(Handled run) {
    return run.rows != null && rows.contains(run.rows);
  }

  private boolean isDead(Published of) {
    return dead.contains(of.id);
  }

  /** Whether it has ended, or a later one of its key has, which replaced it. */
  private boolean isCovered(Published of) {
    return byKey.getOrDefault(of.topic + "/" + of.lane + of.key, List.of()).stream()
        .anyMatch(later -> later.number >= of.number && ended.contains(later.id));
  }

  private void checkOne(Published of) {
    if (of.queuedAt != Long.MAX_VALUE
        && of.deleteInvokedAt == Long.MAX_VALUE
        && !isCovered(of)
        && !isRowForgotten(of)) {
      report(MessageViolation.Kind.LOST, of.toString());
    }
    for (Handled run : byId.getOrDefault(of.id, List.of())) {
      if (!run.lane.equals(of.lane)) {
        report(MessageViolation.Kind.STRANGER, run + ": it is of " + of.lane);
      }
      if (of.isRefused) {
        report(MessageViolation.Kind.REVIVED, run + ": its publish was refused");
      }
      if (run.askedAt > of.deletedAt && !trouble.hides(of.deletedAt)) {
        report(MessageViolation.Kind.REVIVED, run + ": it was deleted before");
      }
      if (run.startedAt < of.invokedAt + of.afterMillis * 1_000_000 - CLOCK_NANOS
          && !trouble.leaps(of.invokedAt - TOLD_NANOS, run.startedAt)) {
        report(MessageViolation.Kind.EARLY, run + ": before it was due");
      }
    }
  }

  /**
   * Whether the row of its commit was lost with a session that a failover forgot, its own or the
   * next, which had adopted it: that must have been reported, the checker of rows sees to it. Its
   * message is not put back then, unless another session had adopted the row.
   */
  private boolean isRowForgotten(Published of) {
    return of.isWithRow && trouble.forgets() && !rows.contains(of.commit);
  }

  /** A row of the same commit has its id. */
  private void checkWhole(String commit, List<Published> all) {
    long here = all.stream().filter(of -> ended.contains(of.id)).count();
    boolean withRow = all.get(0).isWithRow && !isRowForgotten(all.get(0));
    boolean isRowHere = rows.contains(commit);
    if ((here > 0 && here < all.size()) || (withRow && here > 0 != isRowHere)) {
      report(
          MessageViolation.Kind.HALF,
          "%s: %d of %d messages%s"
              .formatted(commit, here, all.size(), withRow ? ", row: " + isRowHere : ""));
    }
  }

  private void checkRows(String id, List<Handled> runs) {
    List<Handled> applied = runs.stream().filter(this::isApplied).toList();
    if (applied.size() > 1) { // whatever was forgotten: MySQL decides
      report(MessageViolation.Kind.ROWS, "applied more than once: " + applied);
    }
  }

  private void checkDead(String id) {
    Published of = history.published.get(id);
    boolean mayBe =
        of != null
            && (of.kind == Kind.CURSED
                || of.kind == Kind.ROWS
                || byId.getOrDefault(id, List.of()).stream().anyMatch(run -> run.threw()));
    if (!mayBe) {
      report(MessageViolation.Kind.DEAD, String.valueOf(of));
    }
  }

  private void report(MessageViolation.Kind kind, String what) {
    if (violations.size() < MOST_VIOLATIONS) {
      violations.add(new MessageViolation(kind, what));
    }
  }
}
