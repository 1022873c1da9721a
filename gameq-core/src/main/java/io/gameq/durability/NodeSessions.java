package io.gameq.durability;

import io.gameq.owner.SessionRef;
import io.gameq.sign.NodeCounts;
import io.gameq.wal.WalWriter.WalNeeds;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of this node of which anything may not be in MySQL yet: those that are open, and
 * those that were closed with rows on their way. Thread-safe.
 */
public final class NodeSessions {
  /** In order of their owners, and of each owner in the order in which they were opened. */
  private final ConcurrentNavigableMap<String, DurableTracker> trackers =
      new ConcurrentSkipListMap<>();

  private final Set<DurableTracker> closed = ConcurrentHashMap.newKeySet();
  private final NodeCounts counts;

  /** None yet. */
  public NodeSessions(NodeCounts counts) {
    this.counts = counts;
  }

  /** Where is counted what becomes of them. */
  public NodeCounts counts() {
    return counts;
  }

  private static String name(String owner, String session) {
    return owner + " " + session;
  }

  private static String name(DurableTracker tracker) {
    SessionRef session = tracker.session();
    return name(session.owner().encoded(), session.id().text());
  }

  public void add(DurableTracker tracker) {
    trackers.put(name(tracker), tracker);
  }

  public void remove(DurableTracker tracker) {
    trackers.remove(name(tracker));
  }

  /** By encoded owner and session text; null when nothing of it is waited for. */
  public @Nullable DurableTracker find(String owner, String session) {
    return trackers.get(name(owner, session));
  }

  /** The session if the game has it open and it is not known to be lost; else null. */
  public @Nullable DurableTracker findOpen(String owner, String session) {
    DurableTracker tracker = find(owner, session);
    return tracker != null && isOpen(tracker) ? tracker : null;
  }

  /** Whether the game has not closed it, and it is not known to be lost. */
  public boolean isOpen(DurableTracker tracker) {
    return !closed.contains(tracker) && !tracker.session().isLost();
  }

  public Collection<DurableTracker> all() {
    return trackers.values();
  }

  /** Those of the same owner that were opened before this one. */
  public Collection<DurableTracker> before(DurableTracker tracker) {
    return trackers.subMap(name(tracker.session().owner().encoded(), ""), name(tracker)).values();
  }

  public Collection<DurableTracker> closed() {
    return closed;
  }

  /** Those that are open. */
  public List<DurableTracker> allOpen() {
    return all().stream().filter(this::isOpen).toList();
  }

  /** Their owners, as the game wrote them. */
  public Set<String> openOwners() {
    Set<String> owners = new TreeSet<>();
    allOpen().forEach(tracker -> owners.add(tracker.session().owner().toString()));
    return owners;
  }

  /** Row keys of all, {@code table:primary key}, that are not known to be in MySQL. */
  public Set<String> notDurable() {
    Set<String> missing = new TreeSet<>();
    all().forEach(tracker -> missing.addAll(tracker.notDurable()));
    return missing;
  }

  /** How many are open. */
  public int open() {
    return Math.max(0, trackers.size() - closed.size());
  }

  /**
   * The lowest version of a change that is not known to be in MySQL; {@link Long#MAX_VALUE} when
   * there is none. Looks at all that wait.
   */
  public long oldestVersion() {
    long oldest = Long.MAX_VALUE;
    for (DurableTracker tracker : all()) {
      oldest = Math.min(oldest, tracker.oldestVersion());
    }
    return oldest;
  }

  /**
   * The tracker of an inbox, about to get rows; a new one when nothing of it is waited for. It is
   * let go of like a session that was closed.
   *
   * @param added told of a new one
   */
  public synchronized DurableTracker preparing(
      SessionRef inbox, BiConsumer<SessionRef, DurableTracker> added) {
    DurableTracker tracker = find(inbox.owner().encoded(), inbox.text());
    if (tracker == null) {
      tracker = new DurableTracker(inbox, counts);
      added.accept(inbox, tracker);
      closed.add(tracker); // first: an inbox is never open
      add(tracker);
    }
    tracker.preparing();
    return tracker;
  }

  /** The game gave the session up: it is kept until all of it is in MySQL. */
  public void close(DurableTracker tracker) {
    closed.add(tracker);
  }

  /** Lets go of closed sessions of which everything is in MySQL. */
  public synchronized void forgetDrained(Consumer<SessionRef> forgotten) {
    closed.removeIf(
        tracker -> {
          boolean done = tracker.isDrained();
          if (done) {
            forgotten.accept(tracker.session());
            remove(tracker);
          }
          return done;
        });
  }

  /** Redis lost these WAL records, and they are not replayed: see {@link DurableTracker#gaveUp}. */
  public void gaveUp(Set<Long> sequences) {
    for (DurableTracker tracker : all()) {
      if (!tracker.session().isLost()) { // what of a lost session is lost is looked for anyway
        tracker.gaveUp(sequences);
      }
    }
  }

  public boolean isDrained() {
    return all().stream().allMatch(DurableTracker::isDrained);
  }

  /**
   * What of the WAL any session may still need.
   *
   * @param from whatever comes from there on is not looked at, and needed
   */
  public WalNeeds needed(long from) {
    long onTheirWay = from;
    LongStream.Builder waiting = LongStream.builder();
    for (DurableTracker tracker : all()) {
      onTheirWay = tracker.onTheirWay(onTheirWay); // first: what arrives meanwhile is in either
      tracker.beyond(
          0,
          record -> {
            if (record < from) {
              waiting.add(record);
            }
          });
    }
    return new WalNeeds(onTheirWay, waiting.build().sorted().distinct().toArray());
  }
}
