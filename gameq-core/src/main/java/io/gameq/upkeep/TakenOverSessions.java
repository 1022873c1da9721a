package io.gameq.upkeep;

import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.OwnKey;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Asks Redis for sessions that another one took over though the notice of it was lost: only for
 * those whose game waits to be told. One thread.
 */
final class TakenOverSessions {
  private final NodeSessions sessions;
  private final ControlConnection redis;
  private final SlotKeys[] slots;

  TakenOverSessions(NodeSessions sessions, ControlConnection redis, SlotKeys[] slots) {
    this.sessions = sessions;
    this.redis = redis;
    this.slots = slots;
  }

  /** One MGET for each 500 sessions of a slot. */
  void tell() {
    Map<Integer, List<DurableTracker>> bySlot =
        sessions.all().stream()
            .filter(of -> of.news().isLossAwaited() && sessions.isOpen(of))
            .collect(Collectors.groupingBy(of -> of.session().slot()));
    bySlot.forEach(
        (slot, awaited) -> {
          List<OwnerId> owners = awaited.stream().map(of -> of.session().owner()).toList();
          Map<OwnerId, SessionId> owns =
              redis.ask(connection -> OwnKey.sessions(connection, slots[slot], owners));
          for (DurableTracker of : awaited) {
            SessionId now = owns.get(of.session().owner());
            if (now != null && now.isNewerThan(of.session().id()) && sessions.isOpen(of)) {
              of.news().tellLost();
            }
          }
        });
  }
}
