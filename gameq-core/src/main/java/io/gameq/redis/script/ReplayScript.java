package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.ScriptPipeline.Call;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** {@code replay.lua}: puts lost rows back. One thread. */
public final class ReplayScript {
  private static final LuaScript SCRIPT =
      LuaScript.of(ReplayScript.class, "inbox.lua", "replay.lua");

  private final ScriptPipeline redis;
  private final SlotKeys[] slots;

  public ReplayScript(ScriptPipeline redis, SlotKeys[] slots) {
    this.redis = redis;
    this.slots = slots;
  }

  /**
   * All that one owner gets back.
   *
   * @param session MySQL says that it owns
   * @param ends whether its node is gone
   */
  public record Owner(OwnerId owner, SessionId session, boolean ends, List<EncodedRow> rows) {}

  /** What became of a group of owners. */
  public sealed interface Outcome {}

  /** Redis holds all rows, in these versions or newer ones; so many were written. */
  public record Applied(long written) implements Outcome {}

  /** A newer session owns one of the owners: nothing of the group was written. */
  public record Refused(OwnerId owner, SessionId ownedBy) implements Outcome {}

  /** A group that was sent. */
  public record Pending(
      List<Owner> group, ScriptPipeline redis, CompletionStage<List<Object>> sent) {
    /**
     * Waits for what became of it.
     *
     * @throws io.gameq.GameQueueException when Redis refuses or does not answer
     */
    public Outcome await() {
      List<Object> reply = redis.await(sent);
      if ((Long) reply.get(0) == 1) {
        return new Applied((Long) reply.get(1));
      }
      return new Refused(
          group.get(((Long) reply.get(1)).intValue()).owner(),
          SessionId.parse(LuaScript.string(reply.get(2))));
    }
  }

  /** Sends groups of owners; of each group all rows become visible together. */
  public List<Pending> send(List<List<Owner>> groups) {
    List<CompletionStage<List<Object>>> sent =
        redis.send(SCRIPT, groups.stream().map(this::call).toList());
    List<Pending> pending = new ArrayList<>(groups.size());
    for (int i = 0; i < groups.size(); i++) {
      pending.add(new Pending(groups.get(i), redis, sent.get(i)));
    }
    return pending;
  }

  private Call call(List<Owner> group) {
    List<Object> args = new ArrayList<>(List.of(OwnKey.KEPT_MILLIS));
    for (Owner of : group) {
      args.addAll(List.of(of.owner(), of.session(), of.ends(), of.rows().size()));
      of.rows().forEach(row -> args.addAll(List.of(row.key(), row.image())));
    }
    return new Call(
        group.stream()
            .map(of -> SlotKeys.bytes(slots[of.owner().slot(slots.length)].prefix()))
            .toArray(byte[][]::new),
        LuaScript.args(args));
  }
}
