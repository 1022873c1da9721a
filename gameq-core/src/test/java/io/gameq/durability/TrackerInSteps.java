package io.gameq.durability;

import io.gameq.change.Commit;
import io.gameq.change.Unsettled;
import io.gameq.owner.SessionRef;
import io.gameq.rows.EncodedRow;
import io.gameq.sign.NodeCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * A {@link DurableTracker} as an immutable value, for tests elsewhere: everything that it was told,
 * which a real one is told again whenever it is asked.
 */
public final class TrackerInSteps {
  private final SessionRef session;
  private final List<Told> told;

  private record Told(String what, Consumer<DurableTracker> effect) {}

  private TrackerInSteps(SessionRef session, List<Told> told) {
    this.session = session;
    this.told = told;
  }

  public static TrackerInSteps of(SessionRef session) {
    return new TrackerInSteps(session, List.of());
  }

  public SessionRef session() {
    return session;
  }

  /** Forgets what was told once nothing is left to wait for: it then behaves like a new one. */
  private TrackerInSteps plus(String what, Consumer<DurableTracker> effect) {
    List<Told> more = new ArrayList<>(told);
    more.add(new Told(what, effect));
    TrackerInSteps now = new TrackerInSteps(session, List.copyOf(more));
    return now.rows().isEmpty() ? of(session) : now;
  }

  /** As an open tells it what was adopted. */
  public TrackerInSteps adopted(
      List<EncodedRow> dirty, List<EncodedRow> claimed, List<Long> sequences) {
    return plus(
        "adopted in " + new TreeSet<>(sequences),
        tracker -> tracker.adopted(dirty, claimed, sequences));
  }

  /** Redis holds the commit. */
  public TrackerInSteps queued(Commit commit) {
    return plus(
        "queued " + commit.sequence() + (commit.isSentAgain() ? " again" : ""),
        tracker -> tracker.queued(commit));
  }

  /** A writer's notice. */
  public TrackerInSteps durable(long version) {
    return rows().isEmpty()
        ? this
        : plus("durable " + version, tracker -> tracker.durable(version, Map.of(), Map.of()));
  }

  /** A look at MySQL. */
  public TrackerInSteps found(Map<String, Long> there) {
    return plus("found " + new TreeMap<>(there), tracker -> tracker.found(there, Map.of()));
  }

  /** These rows were reported as a conflict. */
  public TrackerInSteps lost(SortedMap<String, Long> rows) {
    return plus("lost " + rows, tracker -> tracker.lost(tracker.conflict(rows, "", false)));
  }

  private DurableTracker tracker() {
    DurableTracker tracker = new DurableTracker(session, new NodeCounts());
    told.forEach(one -> one.effect.accept(tracker));
    return tracker;
  }

  public Unsettled unsettled() {
    return tracker();
  }

  /** Row keys that are not known to be in MySQL. */
  public Set<String> rows() {
    return tracker().notDurable();
  }

  /** Those that Redis does not hold either, with their versions, after {@link #found}. */
  public SortedMap<String, Long> missing(Map<String, Long> inRedis) {
    DurableTracker tracker = tracker();
    return tracker.missing(tracker.notDurable(), inRedis, 0);
  }

  @Override
  public String toString() {
    return session.id() + " " + told.stream().map(Told::what).toList();
  }
}
