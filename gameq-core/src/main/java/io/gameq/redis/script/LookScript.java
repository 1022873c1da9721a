package io.gameq.redis.script;

import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code look.lua}: what Redis holds of rows that may be lost. Stateless. */
public final class LookScript {
  private static final LuaScript SCRIPT = LuaScript.of(LookScript.class, "look.lua");

  /** What one HMGET may be asked for: Lua's unpack ends near 8,000. */
  private static final int MOST_FIELDS = 1_000;

  private LookScript() {}

  /**
   * What Redis holds.
   *
   * @param ownedBy text of the session that owns, empty when Redis knows none
   * @param isWhole whether that session opened on this very Redis, or its node has put back here
   *     what Redis lost of it: then it holds no row that Redis does not
   * @param versions of rows that wait to be flushed; the others are missing
   */
  public record Looked(String ownedBy, boolean isWhole, Map<String, Long> versions) {
    /**
     * Whether the node of this session has put here whatever it may hold of the owner's rows.
     *
     * @param session that owns by MySQL
     */
    public boolean isAllOf(SessionId session) {
      return isWhole && ownedBy.equals(session.text());
    }

    /** The same of whichever session owns by MySQL; false while it is opening, or there is none. */
    public boolean isAllOfOwner(@Nullable CountingSessions durable) {
      return durable != null && !durable.opening() && isAllOf(durable.newest());
    }
  }

  /** Looks for rows of one owner. Throws RedisUnavailableException when Redis does not answer. */
  public static Looked call(
      RedisConnection redis, SlotKeys slot, OwnerId owner, Collection<String> rows) {
    Map<String, Long> versions = new HashMap<>();
    String ownedBy = null;
    boolean isWhole = true;
    for (List<String> some : LuaScript.pieces(List.copyOf(rows), MOST_FIELDS)) {
      List<Object> reply = SCRIPT.call(redis, slot, owner, some);
      String owns = LuaScript.string(reply.get(0));
      isWhole &= (Long) reply.get(1) == 0 && (ownedBy == null || owns.equals(ownedBy));
      ownedBy = owns;
      List<?> found = (List<?>) reply.get(2);
      for (int i = 0; i < some.size(); i++) {
        String version = LuaScript.string(found.get(i));
        if (!version.isEmpty()) {
          versions.put(some.get(i), Long.parseUnsignedLong(version, 16));
        }
      }
    }
    return new Looked(ownedBy == null ? "" : ownedBy, isWhole, versions);
  }
}
