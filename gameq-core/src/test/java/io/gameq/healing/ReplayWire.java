package io.gameq.healing;

import io.gameq.change.Unsettled;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SessionKeys;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitScript;
import io.gameq.redis.script.LuaScript;
import io.gameq.wal.WalRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** The decisions and the script of {@link WalReplay}, one at a time, for tests elsewhere. */
public final class ReplayWire {
  private static final Unsettled SETTLED =
      new Unsettled() {
        @Override
        public void beyond(long mark, LongConsumer sequences) {}

        @Override
        public void doubt() {}
      };

  private ReplayWire() {}

  /** What a node is to replay; immutable. */
  public static final class Debt {
    public static final Debt NONE = new Debt(RecordsToReplay.NOTHING, "");

    private final RecordsToReplay owed;
    private final String text;

    private Debt(RecordsToReplay owed, String doubts) {
      this.owed = owed;
      this.text = doubts + Arrays.toString(owed.sequences());
    }

    /** The journal marks say nothing this time. */
    public Debt distrustingMarks() {
      return new Debt(owed.distrustingMarks(), "distrusting ");
    }

    /** Adds what Redis has lost of sessions that own, by the journal mark that it holds. */
    public Debt plusLost(
        RedisConnection redis, SlotKeys slot, String walId, Map<SessionRef, Unsettled> sessions) {
      List<HeldSession> owning = new ArrayList<>();
      sessions.forEach(
          (ref, unsettled) ->
              owning.add(new HeldSession(ref, new SessionKeys(slot, ref), unsettled)));
      return new Debt(
          owed.plusLost(owning, of -> WalReplay.mark(redis, of, SlotKeys.bytes(walId))), "");
    }

    /** WAL sequences in order. */
    public List<Long> sequences() {
      return Arrays.stream(owed.sequences()).boxed().toList();
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /** Whether a WAL record has anything that one of these sessions, which own, would replay. */
  public static boolean concerns(Collection<SessionRef> owning, List<WalRecord.Part> record) {
    return !owned(new SlotKeys("", 0), owning, record).isEmpty();
  }

  /**
   * Sends one WAL record as {@link WalReplay} does; returns the session that Redis refused it for,
   * or null.
   */
  public static @Nullable SessionRef send(
      RedisConnection redis,
      SlotKeys slot,
      String walId,
      long sequence,
      Collection<SessionRef> owning,
      List<WalRecord.Part> record) {
    List<CommitScript.Part> parts = owned(slot, owning, record);
    List<Object> reply =
        CommitScript.sendText(
                redis, new CommitScript.Arguments(SlotKeys.bytes(walId), sequence, 0, parts))
            .toCompletableFuture()
            .join();
    if ((Long) reply.get(0) == 1) {
      return null;
    }
    String refused = LuaScript.string(parts.get(((Long) reply.get(1)).intValue()).keys().session);
    return owning.stream().filter(ref -> ref.id().text().equals(refused)).findFirst().orElseThrow();
  }

  private static List<CommitScript.Part> owned(
      SlotKeys slot, Collection<SessionRef> owning, List<WalRecord.Part> record) {
    List<HeldSession> sessions =
        owning.stream()
            .map(ref -> new HeldSession(ref, new SessionKeys(slot, ref), SETTLED))
            .toList();
    return WalReplay.owned(record, WalReplay.byName(sessions));
  }
}
