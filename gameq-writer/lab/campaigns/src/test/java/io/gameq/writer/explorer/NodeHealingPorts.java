package io.gameq.writer.explorer;

import io.gameq.change.Commit;
import io.gameq.change.Unsettled;
import io.gameq.healing.DurableTruth;
import io.gameq.healing.HealingPorts;
import io.gameq.healing.HealingPorts.HeldSession;
import io.gameq.healing.HealingPorts.HeldSessions;
import io.gameq.healing.HealingPorts.RecordsToReplay;
import io.gameq.healing.HealingStep;
import io.gameq.healing.ReplaySource;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitGroup;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import io.gameq.redis.script.MessagesScript.Mode;
import io.gameq.redis.script.MessagesScript.WalCall;
import io.gameq.wal.WalRecord;
import io.gameq.writer.explorer.MadeChange.Status;
import io.gameq.writer.explorer.Plant.Switch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What one step of a node's healing reaches: the servers, and what the node remembers. */
final class NodeHealingPorts implements HealingPorts {
  private final Servers world;
  private final GameNodeActor node;
  private final TreeMap<Integer, SessionRef> refs = new TreeMap<>();
  private final HeldSessions held;
  private NodeMemory me;
  private boolean hasOwnMarks;

  NodeHealingPorts(Servers world, GameNodeActor node, NodeMemory before) {
    this.world = world;
    this.node = node;
    HealingStep step = before.link().step();
    boolean lostToo = has(Switch.LOST_SESSIONS_REPLAY) && !(step instanceof HealingStep.SendAgain);
    List<HeldSession> sessions = new ArrayList<>();
    me =
        has(Switch.MARKS_TRUSTED_ALWAYS) && step instanceof HealingStep.NoteLost
            ? before.wal(before.wal().owing(RecordsToReplay.NOTHING))
            : before;
    for (Map.Entry<Integer, NodeMemory.Hold> entry : before.holds().entrySet()) {
      NodeMemory.Hold hold = entry.getValue();
      if (entry.getKey() < 0 && has(Switch.INBOXES_NOT_REPLAYED)) {
        continue;
      }
      SessionRef ref = new SessionRef(hold.ref().owner(), hold.session(), hold.ref().slot());
      if (hold.lost() && !lostToo) {
        ref.markLost();
      }
      refs.put(entry.getKey(), ref);
      sessions.add(
          new HeldSession(
              ref,
              new WithoutDoubts(
                  Objects.requireNonNull(me.wal().trackers().get(entry.getKey())).unsettled())));
    }
    held = new HeldSessions(sessions);
  }

  private boolean has(Switch one) {
    return node.plant().has(one);
  }

  /** What the node remembers after the step. */
  NodeMemory memory() {
    NodeMemory after = me;
    for (Map.Entry<Integer, SessionRef> entry : refs.entrySet()) {
      if (entry.getValue().isLost()) {
        after = after.lose(entry.getKey());
      }
    }
    return after;
  }

  /** Trades are replayed as far as their sessions own; see what is not explored. */
  private record WithoutDoubts(Unsettled real) implements Unsettled {
    @Override
    public void beyond(long mark, LongConsumer sequences) {
      real.beyond(mark, sequences);
    }

    @Override
    public void doubtful(LongConsumer sequences) {}

    @Override
    public void doubt() {}
  }

  @Override
  public RedisConnection redis() {
    return world.redis;
  }

  @Override
  public SlotKeys[] slots() {
    return new SlotKeys[] {world.slot};
  }

  @Override
  public DurableTruth truth() {
    return new DurableTruth(
        slots(),
        new PlantedSessions(world.sessions, node.plant(), refs.values()),
        rows -> {
          throw new IllegalStateException("no trade is left undecided here");
        });
  }

  @Override
  public HeldSessions sessions() {
    return held;
  }

  @Override
  public long dueMillis() {
    return 0;
  }

  @Override
  public RecordsToReplay owed() {
    return me.wal().owed();
  }

  @Override
  public void owed(RecordsToReplay now) {
    me = me.wal(me.wal().owing(now));
  }

  @Override
  public void notReplayed(Set<Long> sequences) {
    throw new IllegalStateException("records are given up: " + sequences);
  }

  @Override
  public int sessionsAtOnce() {
    return 1;
  }

  @Override
  public int recordsAtOnce() {
    return 1;
  }

  @Override
  public ReplaySource wal() {
    return new ReplaySource() {
      @Override
      public String id() {
        return node.name();
      }

      @Override
      public void read(long[] sequences, Records to) {
        for (long one : sequences) {
          long sequence = has(Switch.REPLAY_NEWEST_FIRST) ? mirrored(one) : one;
          NodeWal.Entry record = me.wal().record(sequence);
          if (record.op() != NodeWal.ADOPTED || !has(Switch.ADOPTED_NOT_PUT_BACK)) {
            to.take(sequence, new WalRecord.Committed(record.parts()));
          }
        }
      }
    };
  }

  private long mirrored(long sequence) {
    long[] all = owed().sequences();
    return all[all.length - 1 - Arrays.binarySearch(all, sequence)];
  }

  @Override
  public @Nullable Commit firstUnanswered() {
    for (int op; (op = me.firstUnanswered()) >= 0; ) {
      if (!has(Switch.UNANSWERED_COUNT_AS_DONE)) {
        return node.sentBefore(world, withMarkedSessions(), op);
      }
      me = me.told(op, Status.ACKNOWLEDGED);
    }
    return null;
  }

  /** The sessions as this step knows them; the trackers know those that the node holds. */
  private NodeMemory withMarkedSessions() {
    NodeMemory marked = me;
    for (Map.Entry<Integer, SessionRef> entry : refs.entrySet()) {
      NodeMemory.Hold hold = Objects.requireNonNull(me.holds().get(entry.getKey()));
      marked =
          marked.hold(
              entry.getKey(), new NodeMemory.Hold(entry.getValue(), hold.lost(), hold.loaded()));
    }
    return marked;
  }

  /** Those of the state after this step. */
  private SlotMarks slotMarks() {
    if (!hasOwnMarks) {
      me = me.wal(me.wal().marks(new SlotMarks(me.wal().marks())));
      hasOwnMarks = true;
    }
    return me.wal().marks();
  }

  @Override
  public JournalMarks marks() {
    return slotMarks().read();
  }

  @Override
  public void marks(JournalMarks now) {
    slotMarks().read(now);
  }

  @Override
  public long[] newest() {
    return slotMarks().answered();
  }

  @Override
  public long[] settled() {
    return slotMarks().settled(Stream.of()); // here no commit overtakes another
  }

  @Override
  public CommitGroup group(Commit commit) {
    WalCall call = new WalCall(SlotKeys.bytes(node.name()), Mode.AGAIN, 0, 0, slots());
    return CommitGroup.of(List.of(commit), call, slotMarks(), false);
  }

  @Override
  public void queued(Commit first) {
    int op = me.firstUnanswered();
    Commit known = node.sentBefore(world, me, op);
    known.setSentAgain();
    me =
        me.told(op, Status.ACKNOWLEDGED)
            .wal(me.wal().queued((Op.Commit) node.ops().get(op), known));
  }

  @Override
  public void unknown(Commit first, SessionRef lost) {
    me = me.told(me.firstUnanswered(), Status.UNKNOWN);
  }

  @Override
  public void refused(Commit first, CommitGroup.FailedPrecondition why) {
    throw new IllegalStateException("commits of this cast have no messages: " + why);
  }

  @Override
  public void refused(Commit first, String message) {
    throw new IllegalStateException("Redis refused a commit: " + message);
  }
}
