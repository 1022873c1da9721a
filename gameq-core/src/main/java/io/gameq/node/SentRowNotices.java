package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.durability.DurableTracker;
import io.gameq.owner.OwnerId;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.SessionScripts.RowNotices;
import io.gameq.redis.script.SessionScripts.RowNotices.SessionRow;
import io.gameq.rows.EncodedRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the sessions of this node of rows that others sent to their owners: when a notice says so,
 * and every ten seconds, since a notice can be lost. {@link #soon} is for any thread, the rest for
 * that of the upkeep.
 */
final class SentRowNotices implements Agent {
  private static final long LOOK_EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** When a server is away, or a session is not known here yet. */
  private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final Logger LOG = LoggerFactory.getLogger(SentRowNotices.class);

  /** Beyond the time of a call, until the node has taken up what it opened. */
  private static final Duration OPENING_MARGIN = Duration.ofSeconds(10);

  private final GameNode node;
  private final Runnable wake;

  /** How long an open may take from Redis until the node knows of it, at most. */
  private final long openingNanos;

  /** Slots that are to be looked at, and from when on, by System.nanoTime. */
  private final Map<Integer, Long> due = new ConcurrentHashMap<>();

  private final Map<Integer, NoticeState> bySlot = new HashMap<>();

  /** When those of all open sessions are looked at. */
  private volatile long lookNanos = System.nanoTime() + LOOK_EVERY_NANOS;

  /**
   * What is remembered of a slot.
   *
   * @param opening sessions that have rows and are not known here, and since when
   * @param told versions of rows that were told and that Redis may still hold to be told
   */
  private record NoticeState(Map<String, Long> opening, Map<String, Long> told) {
    NoticeState() {
      this(new HashMap<>(), new HashMap<>());
    }
  }

  /** Of a node; {@code wake} wakes whoever runs it. */
  SentRowNotices(GameNode node, Runnable wake) {
    this.node = node;
    this.wake = wake;
    this.openingNanos = node.config.callTimeout().plus(OPENING_MARGIN).toNanos();
  }

  /** Something was sent in this slot. */
  void soon(int slot) {
    if (slot >= 0 && slot < node.servers.slots().length) {
      due.put(slot, System.nanoTime());
      wake.run();
    }
  }

  /** A notice may have been lost. */
  void lookAll() {
    lookNanos = System.nanoTime();
    wake.run();
  }

  @Override
  public String name() {
    return "tell sessions of rows that were sent to them";
  }

  @Override
  public long idleNanos() {
    long now = System.nanoTime();
    long idle = lookNanos - now;
    for (long from : due.values()) {
      idle = Math.min(idle, from - now);
    }
    return Math.max(0, idle);
  }

  @Override
  public int doWork() {
    long now = System.nanoTime();
    Set<Integer> slots = new HashSet<>();
    due.forEach(
        (slot, from) -> { // removed first: what comes from now on is looked at once more
          if (from - now <= 0 && due.remove(slot, from)) {
            slots.add(slot);
          }
        });
    Set<Integer> left = new HashSet<>(slots);
    try {
      if (now - lookNanos >= 0) {
        lookNanos = now + LOOK_EVERY_NANOS;
        Set<Integer> open = slotsOfOpenSessions();
        left.addAll(open);
        slots.addAll(withRows(open));
        left.retainAll(slots);
      }
      for (Integer slot : slots) {
        if (tell(slot)) {
          left.remove(slot);
        }
      }
    } finally { // also when a server is away: the rows stay there
      left.forEach(slot -> due.putIfAbsent(slot, System.nanoTime() + AGAIN_NANOS));
    }
    return slots.size();
  }

  private Set<Integer> slotsOfOpenSessions() {
    return node.sessions.all().stream()
        .filter(node.sessions::isOpen)
        .map(open -> open.session().slot())
        .collect(Collectors.toSet());
  }

  /** Asked of all at once: nearly always there are none. */
  private Set<Integer> withRows(Set<Integer> slots) {
    List<SlotKeys> keys = slots.stream().map(slot -> node.servers.slots()[slot]).toList();
    return node.servers.ask(redis -> RowNotices.slotsWithAny(redis, keys, node.process));
  }

  /** False when there is something left to tell. */
  private boolean tell(int slot) {
    SlotKeys keys = node.servers.slots()[slot];
    List<SessionRow> all = node.servers.ask(redis -> RowNotices.read(redis, keys, node.process));
    List<SessionRow> done = new ArrayList<>();
    Map<DurableTracker, List<SessionRow>> bySession = new HashMap<>();
    NoticeState before = bySlot.getOrDefault(slot, new NoticeState());
    NoticeState now = new NoticeState();
    for (SessionRow row : all) {
      DurableTracker of = node.sessions.findOpen(row.owner(), row.session());
      String name = row.owner() + " " + row.session();
      long since = before.opening.getOrDefault(name, System.nanoTime());
      if (Objects.equals(row.version(), before.told.get(row.name()))) {
        now.told.put(row.name(), row.version());
        done.add(row);
      } else if (of != null) {
        bySession.computeIfAbsent(of, session -> new ArrayList<>()).add(row);
      } else if (System.nanoTime() - since > openingNanos) {
        done.add(row); // it has ended: whoever opens the owner next reads them
      } else {
        now.opening.put(name, since);
      }
    }
    bySlot.put(slot, now); // of other rows Redis knows by now that they were told
    boolean isAll = now.opening.isEmpty();
    for (Map.Entry<DurableTracker, List<SessionRow>> of : bySession.entrySet()) {
      if (tell(keys, of.getKey(), of.getValue())) {
        of.getValue().forEach(row -> now.told.put(row.name(), row.version()));
        done.addAll(of.getValue());
      } else {
        isAll = false;
      }
    }
    if (!all.isEmpty()) {
      node.servers.call(redis -> RowNotices.forget(redis, keys, node.process, done));
    }
    now.told.clear();
    if (now.opening.isEmpty()) {
      bySlot.remove(slot);
    }
    return isAll;
  }

  /** False when it cannot be told yet; that holds up no other session. */
  private boolean tell(SlotKeys slot, DurableTracker session, List<SessionRow> rows) {
    Map<String, EncodedRow> there;
    Set<String> changed;
    try {
      there = rows(slot, session.session().owner(), rows);
      changed = changedSince(session, rows);
    } catch (GameQueueException e) {
      LOG.debug("{} is not told yet what was sent: {}", session.session().owner(), e.getMessage());
      return false;
    }
    List<EncodedRow> news = new ArrayList<>();
    for (SessionRow of : rows) {
      EncodedRow row = there.get(of.key());
      try {
        if (row != null && !changed.contains(of.key())) {
          node.versions.observe(row.version()); // what the session makes of it is newer
          news.add(row);
        }
      } catch (GameQueueException e) { // damaged, or of a clock that is wrong: writers say so
        LOG.warn(
            "row {} sent to {} is not told: {}",
            of.key(),
            session.session().owner(),
            e.getMessage());
      }
    }
    session.sent().came(news);
    return true;
  }

  /**
   * The rows by key, from Redis and, once they are flushed, from MySQL: in this order, as they
   * move. Of those that are there in another version somebody has made something else since; others
   * were set aside.
   */
  private Map<String, EncodedRow> rows(SlotKeys slot, OwnerId owner, List<SessionRow> sent) {
    Map<String, EncodedRow> rows = new HashMap<>();
    node.servers
        .ask(redis -> RowNotices.waiting(redis, slot, sent))
        .forEach(row -> rows.put(row.key(), row));
    Map<String, Long> flushed = new HashMap<>();
    sent.stream()
        .filter(of -> !rows.containsKey(of.key()))
        .forEach(of -> flushed.put(of.key(), of.version()));
    if (!flushed.isEmpty()) {
      node.views.stored(owner, flushed.keySet()).stream()
          .filter(row -> Objects.equals(row.version(), flushed.get(row.key())))
          .forEach(row -> rows.put(row.key(), row));
    }
    return rows;
  }

  /** Of rows that may have been told before: those that are not any more what was sent. */
  private Set<String> changedSince(DurableTracker session, List<SessionRow> rows) {
    Map<String, Long> again = new HashMap<>();
    rows.stream().filter(SessionRow::isAgain).forEach(of -> again.put(of.key(), of.version()));
    if (again.isEmpty()) {
      return Set.of();
    }
    Set<String> changed = new HashSet<>(session.notDurable());
    changed.retainAll(again.keySet());
    node.views
        .versions(again.keySet())
        .forEach(
            (key, version) -> {
              if (version > again.getOrDefault(key, version)) {
                changed.add(key);
              }
            });
    return changed;
  }
}
