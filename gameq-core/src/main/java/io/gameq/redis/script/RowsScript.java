package io.gameq.redis.script;

import io.gameq.owner.PercentEncoding;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.List;

/** {@code rows.lua}: the rows of one table that wait. Stateless. */
public final class RowsScript {
  /** Redis does nothing else meanwhile. */
  public static final int MOST_OWNERS = 100;

  private static final LuaScript SCRIPT = LuaScript.of(RowsScript.class, "rows.lua");

  private RowsScript() {}

  /**
   * Looks at owners of one slot.
   *
   * @param members as {@link WaitingOwners} names them, {@value #MOST_OWNERS} at most
   * @return the rows in no order, perhaps a row in two versions
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static List<EncodedRow> call(
      RedisConnection redis, SlotKeys slot, String table, List<String> members) {
    List<String> args = new ArrayList<>();
    args.add(PercentEncoding.percent(table));
    args.addAll(members);
    return OpenScript.rows(SCRIPT.call(redis, slot, args));
  }
}
