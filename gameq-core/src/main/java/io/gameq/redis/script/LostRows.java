package io.gameq.redis.script;

import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SessionKeys;
import io.gameq.redis.SlotKeys;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.List;

/** Rows of a session that Redis lost, put back by its node through commit.lua. Stateless. */
public final class LostRows {
  /** A script holds Redis for as long as it takes; an owner with few rows, as most are, is one. */
  private static final int ROWS_AT_ONCE = 500;

  private static final int BYTES_AT_ONCE = 4 << 20;

  private LostRows() {}

  /**
   * Puts rows back under a session, due at once, never over a newer row. Not a commit: no journal
   * mark moves on. Where another session owns, nothing is written.
   */
  public static void putBack(
      RedisConnection redis, SlotKeys slot, SessionRef session, List<EncodedRow> rows) {
    SessionKeys keys = new SessionKeys(slot, session);
    List<byte[]> some = new ArrayList<>();
    long bytes = 0;
    for (EncodedRow row : rows) {
      if (some.size() == 2 * ROWS_AT_ONCE
          || (!some.isEmpty() && bytes + row.image().length > BYTES_AT_ONCE)) {
        putBack(redis, keys, some);
        some.clear();
        bytes = 0;
      }
      some.add(SlotKeys.bytes(row.key()));
      some.add(row.image());
      bytes += row.image().length;
    }
    putBack(redis, keys, some);
  }

  private static void putBack(RedisConnection redis, SessionKeys keys, List<byte[]> rows) {
    List<Object> unused =
        RedisReply.await(
            CommitScript.sendText(
                redis,
                CommitScript.Arguments.ofReplay(
                    0,
                    0,
                    List.of(new CommitScript.Part(keys, List.copyOf(rows))),
                    null,
                    new SlotKeys[0])));
  }
}
