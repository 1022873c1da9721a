package io.gameq.upkeep;

import io.gameq.GameQueueException;
import io.gameq.agent.Agent;
import io.gameq.change.VersionClock;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.script.RowsToTell;
import io.gameq.redis.script.RowsToTell.OfSession;
import io.gameq.rows.EncodedRow;
import io.gameq.view.OwnerViews;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the sessions of this node of rows that others sent to their owners: when a notice says so,
 * and every ten seconds, since a notice can be lost. {@link #soon} is for any thread, the rest for
 * that of the upkeep.
 */
public final class SentRowsTelling implements Agent {
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** An open that has reached Redis is known here by then. */
  private static final long OPENING_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final Logger LOG = LoggerFactory.getLogger(SentRowsTelling.class);

  private final Servers servers;
  private final NodeSessions sessions;
  private final VersionClock versions;
  private final String process;
  private final Runnable wake;
  private final Set<Integer> due = ConcurrentHashMap.newKeySet();

  /** Rows of sessions that are not known here, and since when they are seen, by slots. */
  private final Map<Integer, Long> unknownSince = new HashMap<>();

  /** What was told of each slot while Redis could not be told so: no session is told it again. */
  private final Map<Integer, Map<String, ByteBuffer>> unforgotten = new HashMap<>();

  private long lookedNanos = System.nanoTime();
  private volatile boolean looksAll;

  /** What it asks. */
  public record Servers(ControlConnection redis, SlotKeys[] slots, OwnerViews views) {}

  /** Wakes whoever runs it when it has work. */
  public SentRowsTelling(
      Servers servers,
      NodeSessions sessions,
      VersionClock versions,
      String process,
      Runnable wake) {
    this.servers = servers;
    this.sessions = sessions;
    this.versions = versions;
    this.process = process;
    this.wake = wake;
  }

  /** Something was sent in this slot. */
  public void soon(int slot) {
    if (slot >= 0 && slot < servers.slots.length) {
      due.add(slot);
      wake.run();
    }
  }

  /** A notice may have been lost. */
  void lookAll() {
    looksAll = true;
    wake.run();
  }

  @Override
  public String name() {
    return "tell sessions of rows that were sent to them";
  }

  @Override
  public long idleNanos() {
    return looksAll || !due.isEmpty()
        ? 0
        : unknownSince.isEmpty()
            ? Math.max(0, lookedNanos + LOOK_NANOS - System.nanoTime())
            : AGAIN_NANOS;
  }

  @Override
  public int doWork() {
    Set<Integer> slots = new HashSet<>(due);
    slots.addAll(unknownSince.keySet());
    if (looksAll || System.nanoTime() - lookedNanos >= LOOK_NANOS) {
      looksAll = false;
      lookedNanos = System.nanoTime();
      sessions.all().stream()
          .filter(sessions::isOpen)
          .forEach(open -> slots.add(open.session().slot()));
    }
    due.removeAll(slots); // first: what comes from now on is looked at once more
    for (Integer slot : slots) {
      boolean told = false;
      try {
        tell(slot);
        told = true;
      } finally {
        if (!told) {
          due.addAll(slots); // Redis or MySQL is away: the rows stay there
        }
      }
    }
    return slots.size();
  }

  private void tell(int slot) {
    SlotKeys keys = servers.slots[slot];
    List<OfSession> all =
        servers.redis.ask(connection -> RowsToTell.read(connection, keys, process));
    List<OfSession> done = new ArrayList<>();
    Map<DurableTracker, List<OfSession>> bySession = new HashMap<>();
    Map<String, ByteBuffer> before = unforgotten.getOrDefault(slot, Map.of());
    Map<String, ByteBuffer> told = new HashMap<>();
    boolean isUnknown = false;
    long unknownNanos = System.nanoTime() - unknownSince.getOrDefault(slot, System.nanoTime());
    for (OfSession row : all) {
      DurableTracker of = sessions.findOpen(row.owner(), row.session());
      if (image(row).equals(before.get(name(row)))) {
        told.put(name(row), image(row));
        done.add(row);
      } else if (of != null) {
        bySession.computeIfAbsent(of, session -> new ArrayList<>()).add(row);
      } else if (unknownNanos > OPENING_NANOS) {
        done.add(row); // it has ended: whoever opens the owner next reads them
      } else {
        isUnknown = true;
      }
    }
    if (isUnknown) {
      unknownSince.putIfAbsent(slot, System.nanoTime());
    } else {
      unknownSince.remove(slot);
    }
    unforgotten.put(slot, told); // of others Redis knows by now
    bySession.forEach(
        (session, rows) -> {
          tell(session, rows);
          rows.forEach(row -> told.put(name(row), image(row)));
          done.addAll(rows);
        });
    if (!done.isEmpty()) {
      servers.redis.call(
          connection -> {
            RowsToTell.forget(connection, keys, process, done);
            return true;
          });
    }
    unforgotten.remove(slot);
  }

  private static String name(OfSession row) {
    return LuaScript.string(row.field());
  }

  private static ByteBuffer image(OfSession row) {
    return ByteBuffer.wrap(row.row().image());
  }

  private void tell(DurableTracker session, List<OfSession> rows) {
    Set<String> changed = changedSince(session, rows);
    List<EncodedRow> news = new ArrayList<>();
    for (OfSession row : rows) {
      try {
        if (!changed.contains(row.row().key())) {
          versions.observe(row.row().version()); // what the session makes of it is newer
          news.add(row.row());
        }
      } catch (GameQueueException e) { // damaged, or of a clock that is wrong: writers say so
        LOG.warn(
            "row {} sent to {} is not told: {}",
            row.row().key(),
            session.session().owner(),
            e.getMessage());
      }
    }
    session.sent().came(news);
  }

  /** Of rows that may have been told before: those that are not any more what was sent. */
  private Set<String> changedSince(DurableTracker session, List<OfSession> rows) {
    Map<String, Long> again = new HashMap<>();
    rows.stream()
        .filter(OfSession::isAgain)
        .forEach(of -> again.put(of.row().key(), of.row().version()));
    if (again.isEmpty()) {
      return Set.of();
    }
    Set<String> changed = new HashSet<>(session.notDurable());
    changed.retainAll(again.keySet());
    servers
        .views
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
