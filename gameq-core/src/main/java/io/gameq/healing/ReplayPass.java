package io.gameq.healing;

import io.gameq.change.SlotMessages;
import io.gameq.message.MessageChange;
import io.gameq.redis.script.CommitScript;
import io.gameq.redis.script.MessageCommit;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Sends to Redis again, from the WAL and in its order, what Redis had acknowledged and lost, and
 * rows that sessions adopted: one script for each record, which compares versions row by row, so
 * that it may run any number of times. Nothing is sent behind a record that is known to be refused.
 * Acknowledgements go with the rows of their commit; whether these count beside those of another
 * handler is MySQL's to decide. One thread.
 */
final class ReplayPass implements ReplaySource.Records {
  private final HealingPorts ports;
  private final HeldSessions sessions;
  private final Set<Long> doubtful;
  private final ReplayPipeline pipeline;
  private final Map<Long, WalRecord> undecided = new LinkedHashMap<>();
  private final List<Long> unreadable = new ArrayList<>();
  private int sent;

  private ReplayPass(HealingPorts ports) {
    this.ports = ports;
    this.sessions = ports.sessions();
    this.doubtful = sessions.doubtful();
    this.pipeline = new ReplayPipeline(ports.redis());
  }

  /**
   * What came of a pass.
   *
   * @param sent how many records
   * @param undecided trades that were passed over, by sequence
   * @param unreadable sequences that the WAL cannot give back
   * @param refusal the first record that Redis refused; null when it took all
   */
  record Outcome(
      int sent,
      Map<Long, WalRecord> undecided,
      List<Long> unreadable,
      ReplayPipeline.@Nullable RefusedRecord refusal) {}

  /**
   * Replays as much as is to be replayed at once; where none of that concerns a session that owns,
   * more. Throws GameQueueException when Redis goes away, or has no room.
   */
  static HealingStep replay(HealingPorts ports, HealingStep.Replay step) {
    long[] owed = ports.owed().sequences();
    NotReplayed passed = step.passed();
    for (int from = step.from(); from < owed.length; ) {
      int to = (int) Math.min(owed.length, (long) from + ports.atOnce().records());
      Outcome outcome = run(ports, Arrays.copyOfRange(owed, from, to));
      passed = passed.plus(outcome.undecided, outcome.unreadable);
      if (outcome.refusal != null) {
        int refused = Arrays.binarySearch(owed, outcome.refusal.sequence());
        return new HealingStep.AskOwner(
            outcome.refusal.session(), new HealingStep.Replay(refused, passed), true);
      }
      from = to;
      if (outcome.sent > 0) {
        return from < owed.length ? new HealingStep.Replay(from, passed) : ended(ports, passed);
      }
    }
    return ended(ports, passed).next(ports);
  }

  /** Nothing is owed any more but what is undecided. */
  static HealingStep ended(HealingPorts ports, NotReplayed passed) {
    if (!passed.undecided().isEmpty()) {
      ports.owed(RecordsToReplay.of(passed.sequences()));
    } else {
      ports.owed(RecordsToReplay.NOTHING);
      if (!passed.givenUp().isEmpty()) {
        ports.notReplayed(passed.givenUp());
      }
    }
    return new HealingStep.TellWhole(passed);
  }

  private static Outcome run(HealingPorts ports, long[] sequences) {
    CommitScript.load(ports.redis());
    ReplayPass pass = new ReplayPass(ports);
    ports.redis().flushesByItself(false);
    try {
      ports.wal().read(sequences, pass);
      pass.pipeline.finish();
    } finally {
      ports.redis().flushesByItself(true);
    }
    return pass.outcome();
  }

  /** Sends trades that were undecided. */
  static Outcome send(HealingPorts ports, Map<Long, WalRecord> decided) {
    ReplayPass pass = new ReplayPass(ports);
    decided.forEach(pass::send);
    pass.pipeline.finish();
    return pass.outcome();
  }

  private Outcome outcome() {
    ports.replayed(sent);
    return new Outcome(sent, undecided, unreadable, pipeline.refusal());
  }

  @Override
  public void record(long sequence, WalRecord record) {
    if (record.parts().size() > 1 && doubtful.contains(sequence)) {
      undecided.put(sequence, record);
      record.parts().forEach(part -> doubt(sequence, part)); // before anything later is sent
    } else {
      send(sequence, record);
    }
  }

  @Override
  public void unreadable(long sequence) {
    unreadable.add(sequence);
  }

  private void doubt(long sequence, WalRecord.Part part) {
    HeldSession session = sessions.of(part);
    if (session != null) {
      session.unsettled().doubt(sequence, part.rows().stream().map(EncodedRow::key).toList());
    }
  }

  private void send(long sequence, WalRecord record) {
    List<CommitScript.Part> owned = sessions.owned(record.parts());
    if (!owned.isEmpty() && pipeline.refusal() == null) {
      pipeline.send(
          CommitScript.Arguments.ofReplay(
              sequence,
              ports.dueMillis(),
              owned,
              // Where another session holds a part of it, it counted.
              owned.size() == record.parts().size() ? acknowledgements(sequence, record) : null,
              ports.slots()));
      sent++;
    }
  }

  private static @Nullable MessageCommit acknowledgements(long sequence, WalRecord record) {
    List<SlotMessages> acks = new ArrayList<>();
    for (SlotMessages of : record.messages()) {
      List<MessageChange> some =
          of.changes().stream().filter(MessageChange.Ack.class::isInstance).toList();
      if (!some.isEmpty()) {
        acks.add(new SlotMessages(of.slot(), some));
      }
    }
    return acks.isEmpty() ? null : new MessageCommit(sequence, 0, acks);
  }
}
