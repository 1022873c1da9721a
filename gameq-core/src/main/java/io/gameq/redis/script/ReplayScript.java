package io.gameq.redis.script;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.ScriptPipeline.Call;
import io.gameq.redis.script.ScriptPipeline.Sent;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.List;

/** {@code replay.lua}: puts lost rows back. One thread. */
public final class ReplayScript {
  private static final LuaScript SCRIPT =
      LuaScript.of(ReplayScript.class, "inbox.lua", "replay.lua");
  private static final byte[] KEPT = Long.toString(OwnKey.KEPT_MILLIS).getBytes(US_ASCII);

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
  public record Pending(List<Owner> group, ScriptPipeline redis, Sent sent) {
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
    List<Sent> sent = redis.send(SCRIPT, groups.stream().map(this::call).toList());
    List<Pending> pending = new ArrayList<>(groups.size());
    for (int i = 0; i < groups.size(); i++) {
      pending.add(new Pending(groups.get(i), redis, sent.get(i)));
    }
    return pending;
  }

  private Call call(List<Owner> group) {
    byte[][] keys = new byte[group.size()][];
    List<byte[]> args = new ArrayList<>();
    args.add(KEPT);
    for (int i = 0; i < keys.length; i++) {
      Owner of = group.get(i);
      keys[i] = slots[of.owner().slot(slots.length)].prefix().getBytes(US_ASCII);
      args.add(of.owner().encoded().getBytes(US_ASCII));
      args.add(of.session().text().getBytes(US_ASCII));
      args.add(new byte[] {(byte) (of.ends() ? '1' : '0')});
      args.add(Integer.toString(of.rows().size()).getBytes(US_ASCII));
      for (EncodedRow row : of.rows()) {
        args.add(row.key().getBytes(US_ASCII));
        args.add(row.image());
      }
    }
    return new Call(keys, args.toArray(byte[][]::new));
  }
}
