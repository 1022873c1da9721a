package io.gameq.redis.script;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SessionKeys;
import io.gameq.redis.SlotKeys;
import io.lettuce.core.ScriptOutputType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** {@code commit.lua}: one commit as a script, spanning, sent again or replayed. Stateless. */
public final class CommitScript {
  private static final LuaScript SCRIPT = LuaScript.of(CommitScript.class, "commit.lua");

  private CommitScript() {}

  /**
   * One session's share of a commit.
   *
   * @param rows key, image, key, image ...
   */
  public record Part(SessionKeys keys, List<byte[]> rows) {}

  /** A commit: its WAL record, when it is due, and its parts. */
  public record Arguments(byte[] walId, long sequence, long dueMillis, List<Part> parts) {
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
  public static CompletionStage<List<Object>> sendText(RedisConnection redis, Arguments commit) {
    return redis
        .async()
        .eval(SCRIPT.text(), ScriptOutputType.MULTI, commit.keys(), commit.values());
  }

  /** Has Redis know the script; see {@link #send}. */
  public static void load(RedisConnection redis) {
    SCRIPT.load(redis);
  }

  /** Sends by SHA-1; the script was {@linkplain #load loaded} on this connection. */
  public static CompletionStage<List<Object>> send(RedisConnection redis, Arguments commit) {
    return SCRIPT.send(redis, commit.keys(), commit.values());
  }
}
