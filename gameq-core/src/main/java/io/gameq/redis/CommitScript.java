package io.gameq.redis;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.ArrayList;
import java.util.List;

/** {@code commit.lua}: one commit as a script, spanning, sent again or replayed. Stateless. */
final class CommitScript {
  private static final LuaScript SCRIPT = LuaScript.of(CommitScript.class, "commit.lua");

  private CommitScript() {}

  /**
   * One session's share of a commit.
   *
   * @param rows key, image, key, image ...
   */
  record Part(SessionKeys keys, List<byte[]> rows) {}

  /** A commit: its WAL record, when it is due, and its parts. */
  record Arguments(byte[] walId, long sequence, long dueMillis, List<Part> parts) {
    private byte[][] keys() {
      return parts.stream()
          .map(part -> SlotKeys.bytes(part.keys.slot.prefix()))
          .toArray(byte[][]::new);
    }

    private byte[][] values() {
      List<byte[]> args = new ArrayList<>();
      args.add(walId);
      args.add(number(sequence));
      for (Part part : parts) {
        args.add(part.keys.owner);
        args.add(part.keys.session);
        args.add(number(dueMillis));
        args.add(number(part.rows.size() / 2));
        args.addAll(part.rows);
      }
      return args.toArray(byte[][]::new);
    }
  }

  private static byte[] number(long value) {
    return SlotKeys.bytes(Long.toString(value));
  }

  /** Sends by text: between other commands a forgotten script could not be loaded in time. */
  static RedisFuture<List<Object>> sendText(
      StatefulRedisConnection<byte[], byte[]> redis, Arguments commit) {
    return redis
        .async()
        .eval(SCRIPT.text(), ScriptOutputType.MULTI, commit.keys(), commit.values());
  }

  /** Has Redis know the script; see {@link #send}. */
  static void load(StatefulRedisConnection<byte[], byte[]> redis) {
    SCRIPT.load(redis);
  }

  /** Sends by SHA-1; the script was {@linkplain #load loaded} on this connection. */
  static RedisFuture<List<Object>> send(
      StatefulRedisConnection<byte[], byte[]> redis, Arguments commit) {
    return SCRIPT.send(redis, commit.keys(), commit.values());
  }
}
