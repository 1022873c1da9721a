package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.util.ArrayList;
import java.util.List;

/** {@code discard.lua}: removes what a session committed after it lost ownership. Stateless. */
public final class DiscardScript {
  private static final LuaScript SCRIPT = LuaScript.of(DiscardScript.class, "discard.lua");

  private DiscardScript() {}

  /** What became of a discard. */
  public sealed interface Outcome {}

  /** These rows are gone. */
  public record Discarded(List<VersionedKey> rows) implements Outcome {}

  /** Nothing was changed: the session owns now, and its rows will be flushed. */
  public record OwnsNow() implements Outcome {}

  /** Somebody else discarded it. */
  public record Gone() implements Outcome {}

  /** Removes the rows of a stale session for good. */
  static Outcome call(RedisConnection redis, SlotKeys slot, OwnerId owner, SessionId session) {
    List<Object> reply = SCRIPT.call(redis, slot, List.of(owner.encoded(), session.text()));
    long verdict = (Long) reply.get(0);
    if (verdict != 1) {
      return verdict == 0 ? new Gone() : new OwnsNow();
    }
    List<VersionedKey> rows = new ArrayList<>();
    for (int i = 1; i < reply.size(); i += 2) {
      rows.add(
          new VersionedKey(
              LuaScript.string(reply.get(i)),
              Long.parseUnsignedLong(LuaScript.string(reply.get(i + 1)), 16)));
    }
    return new Discarded(rows);
  }
}
