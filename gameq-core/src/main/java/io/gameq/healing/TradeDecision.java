package io.gameq.healing;

import io.gameq.owner.OwnerId;
import io.gameq.wal.WalRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Whether this node's half of a trade is replayed though its other half is of a lost session: only
 * if somebody else turns out to hold that. Later changes of its rows may be in Redis already:
 * versions are compared. Stateless.
 */
final class TradeDecision {
  private TradeDecision() {}

  /** Decides what can be decided by now; waits a little when that is not all. */
  static HealingStep next(HealingPorts ports, HealingStep.Decide step) {
    boolean isLast = System.nanoTime() - step.sinceNanos() >= LostHalves.MOST_WAIT_NANOS;
    Map<Long, WalRecord> sent = new TreeMap<>();
    Map<Long, WalRecord> left = new TreeMap<>();
    List<Long> givenUp = new ArrayList<>();
    step.passed()
        .undecided()
        .forEach(
            (sequence, record) -> {
              LostHalves.Place place = place(ports, record.parts());
              if (place == LostHalves.Place.THERE) {
                sent.put(sequence, record);
              } else if (place == LostHalves.Place.NOWHERE || isLast) {
                givenUp.add(sequence);
              } else {
                left.put(sequence, record);
              }
            });
    NotReplayed now = step.passed().left(left).plus(Map.of(), givenUp);
    ReplayPipeline.RefusedRecord refusal = ReplayPass.send(ports, sent).refusal();
    if (refusal != null) { // all of these are decided again: versions are compared
      left.putAll(sent);
      return new HealingStep.AskOwner(
          refusal.session(), new HealingStep.Decide(now.left(left), step.sinceNanos()), true);
    }
    if (left.isEmpty()) {
      return ReplayPass.ended(ports, now);
    }
    LockSupport.parkNanos(LostHalves.ASK_EVERY_NANOS);
    return new HealingStep.Decide(now, step.sinceNanos());
  }

  /** Where the halves of lost sessions are: everywhere, not yet everywhere, or one nowhere. */
  private static LostHalves.Place place(HealingPorts ports, List<WalRecord.Part> parts) {
    LostHalves.Place place = LostHalves.Place.THERE;
    for (WalRecord.Part part : parts) {
      HeldSession session = ports.sessions().of(part);
      if (place == LostHalves.Place.THERE
          && !OwnerId.ofEncoded(part.owner()).isInbox() // what of these is not held is in MySQL
          && (session == null || session.ref().isLost())) {
        place = ports.truth().halves().find(ports.redis(), part);
      }
    }
    return place;
  }
}
