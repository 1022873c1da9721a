package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** {@code replay.lua}: puts lost rows back, many calls at once. One thread. */
public final class ReplayScript {
  /** Large scripts may follow one another, each within this. */
  public static final int TIMEOUT_MILLIS = 30_000;

  private static final LuaScript SCRIPT =
      LuaScript.of(ReplayScript.class, "inbox.lua", "replay.lua");

  private final RedisConnection redis;
  private final SlotKeys[] slots;
  private boolean isLoaded;

  public ReplayScript(RedisConnection redis, SlotKeys[] slots) {
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
  public record Pending(List<Owner> group, CompletionStage<List<Object>> sent) {
    /**
     * Waits for what became of it.
     *
     * @throws io.gameq.GameQueueException when Redis refuses or does not answer
     */
    public Outcome await() {
      List<Object> reply = RedisReply.await(sent, TIMEOUT_MILLIS);
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
    if (!isLoaded) {
      SCRIPT.load(redis);
      isLoaded = true;
    }
    List<CompletionStage<List<Object>>> sent =
        SCRIPT.sendEach(redis, groups.stream().map(this::call).toList());
    List<Pending> pending = new ArrayList<>(groups.size());
    for (int i = 0; i < groups.size(); i++) {
      pending.add(new Pending(groups.get(i), sent.get(i)));
    }
    return pending;
  }

  private LuaScript.Call call(List<Owner> group) {
    List<Object> args = new ArrayList<>(List.of(OwnKey.KEPT_MILLIS));
    for (Owner of : group) {
      args.addAll(List.of(of.owner(), of.session(), of.ends(), of.rows().size()));
      of.rows().forEach(row -> args.addAll(List.of(row.key(), row.image())));
    }
    return new LuaScript.Call(
        group.stream().map(of -> slots[of.owner().slot(slots.length)]).toList(), args);
  }
}
