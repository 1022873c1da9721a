package io.gameq.writer.campaign.messages;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;

/**
 * What must hold of all runs of handlers on one key, or one group: one at a time, with rising
 * numbers, again only when a lease ran out, in order. Used by one thread.
 */
final class LaneChecks {
  /** An acknowledgement takes less on a machine that is busy and has nothing done to it. */
  private static final long ACK_NANOS = TimeUnit.MILLISECONDS.toNanos(700);

  private final MessageHistory history;
  private final Set<String> rows;
  private final Trouble trouble;
  private final BiConsumer<MessageViolation.Kind, String> report;
  private long twice;

  LaneChecks(
      MessageHistory history,
      Set<String> rows,
      Trouble trouble,
      BiConsumer<MessageViolation.Kind, String> report) {
    this.history = history;
    this.rows = rows;
    this.trouble = trouble;
    this.report = report;
  }

  /** Runs that were there once more: a lease had run out, or the commit with rows had failed. */
  long twice() {
    return twice;
  }

  void check() {
    Map<String, List<Handled>> lanes =
        history.handled().stream().collect(Collectors.groupingBy(run -> run.lane));
    for (List<Handled> runs : lanes.values()) {
      checkAlone(runs);
      checkFences(runs);
      runs.stream()
          .collect(Collectors.groupingBy(run -> run.id))
          .values()
          .forEach(this::checkAgain);
      if (runs.get(0).lane.endsWith(":")) {
        checkOrder(runs);
      }
      if (!trouble.forgets()) { // else MySQL decides which run counts
        checkOrder(runs.stream().filter(this::isOwnersAndApplied).toList());
      }
    }
  }

  private void checkAlone(List<Handled> byStart) {
    for (int i = 0; i < byStart.size(); i++) {
      Handled one = byStart.get(i);
      for (int j = i + 1; j < byStart.size(); j++) {
        Handled other = byStart.get(j);
        if (other.startedAt < one.exclusiveUntil()
            && other.leaseEnd != 0
            && !trouble.leaps(one.startedAt, one.exclusiveUntil())
            && !mayBeFreed(one, byStart)) {
          report.accept(MessageViolation.Kind.TOGETHER, one + ", and " + other);
        }
      }
    }
  }

  /**
   * Whether an acknowledgement that a failover forgot may have ended this run: it was put back
   * late, by a node that had been killed or stopped, while the message was handled again.
   */
  private boolean mayBeFreed(Handled again, List<Handled> byStart) {
    return trouble.forgets()
        && trouble.stalls()
        && byStart.stream()
            .anyMatch(run -> run.id.equals(again.id) && run.fence < again.fence && run.isDone());
  }

  private void checkFences(List<Handled> byStart) {
    for (int i = 0; i < byStart.size(); i++) {
      for (int j = i + 1; j < byStart.size(); j++) {
        Handled one = byStart.get(i);
        Handled later = byStart.get(j);
        if (one.startedAt < later.askedAt && one.fence >= later.fence) {
          report.accept(MessageViolation.Kind.FENCE, one + " has a higher number than " + later);
        }
      }
    }
  }

  /** Each run but the first: why was there another? */
  private void checkAgain(List<Handled> runs) {
    List<Handled> taken = new ArrayList<>(runs);
    taken.sort(Comparator.comparingLong(run -> run.fence));
    for (int i = 1; i < taken.size(); i++) {
      Handled before = taken.get(i - 1);
      if (before.threw()) {
        continue; // it was tried again
      }
      twice++;
      if (!mayBeRepeated(before, taken.get(i))) {
        report.accept(
            MessageViolation.Kind.TWICE,
            "%s, then %s: the first had returned %d ms before its lease ended"
                .formatted(
                    before,
                    taken.get(i),
                    TimeUnit.NANOSECONDS.toMillis(before.leaseEnd - before.doneAt)));
      }
    }
  }

  private boolean mayBeRepeated(Handled before, Handled again) {
    if (before.rows != null && !rows.contains(before.rows)) {
      return true; // its commit failed
    }
    if (before.rows == null && (!before.isDone() || before.doneAt + ACK_NANOS > before.leaseEnd)) {
      return true;
    }
    if (trouble.forgets() && before.startedAt < trouble.until()) {
      return trouble.stalls() || again.askedAt < trouble.putBackAt() || isUnknown(before);
    }
    return again.attempt > 1
        && (before.rows == null || wasItsLast(before))
        && (trouble.overlaps(before.startedAt, before.leaseEnd)
            || trouble.leaps(before.startedAt, before.leaseEnd));
  }

  /**
   * Whether its process was killed at that moment: then the WAL alone may have had its commit with
   * rows, which the next start sends. MySQL decides whose rows count.
   */
  private boolean wasItsLast(Handled of) {
    return history.handled().stream()
        .noneMatch(run -> run.process.equals(of.process) && run.startedAt > of.doneAt + ACK_NANOS);
  }

  /**
   * Whether Redis forgot its claim before it was told of its acknowledgement, which does not count
   * then if it forgot the publish as well, or if the message had been taken before. What was
   * acknowledged before is put back, and nobody takes it after that.
   */
  private boolean isUnknown(Handled of) {
    return (of.attempt > 1
            || trouble.forgot(Objects.requireNonNull(history.published.get(of.id)).queuedAt))
        && of.doneAt + ACK_NANOS > trouble.forgetsAt();
  }

  /** What was given back has kept its place: of an owner the rows have the order as well. */
  private boolean isOwnersAndApplied(Handled run) {
    Published of = history.published.get(run.id);
    return of != null
        && of.topic.equals(Errand.OWNED)
        && run.rows != null
        && rows.contains(run.rows);
  }

  /** Of what waited when one was taken, none is due before it. */
  private void checkOrder(List<Handled> byStart) {
    Map<String, Handled> first = new HashMap<>();
    byStart.forEach(run -> first.putIfAbsent(run.id, run));
    List<Handled> runs = List.copyOf(first.values());
    for (Handled one : runs) {
      Published earlier = Objects.requireNonNull(history.published.get(one.id));
      for (Handled other : runs) {
        if (one.dueMillis < other.dueMillis
            && earlier.queuedAt < other.askedAt
            && one.startedAt > other.startedAt
            && !trouble.hides(earlier.queuedAt)
            && !isPutBackAfter(other, earlier)) {
          report.accept(
              MessageViolation.Kind.ORDER,
              "%s, due %d, after %s, due %d".formatted(one, one.dueMillis, other, other.dueMillis));
        }
      }
    }
  }

  /** Its node was slower to put back what Redis forgot than others waited, see TOPICS. */
  private boolean isPutBackAfter(Handled other, Published forgotten) {
    return trouble.forgot(forgotten.queuedAt) && other.startedAt < trouble.putBackAt();
  }
}
