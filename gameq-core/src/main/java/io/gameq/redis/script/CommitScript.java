package io.gameq.redis.script;

import io.gameq.change.Commit.SlotMessages;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.SlotKeys.SessionKeys;
import io.gameq.redis.script.MessagesScript.MessageBatches;
import io.gameq.redis.script.MessagesScript.MessageCommit;
import io.gameq.redis.script.MessagesScript.WalCall;
import io.gameq.rows.EncodedRow;
import io.lettuce.core.ScriptOutputType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * {@code commit.lua}: one commit as a script: spanning, with messages, sent again or replayed.
 * Stateless.
 */
public final class CommitScript {
  public static final LuaScript SCRIPT =
      LuaScript.of(CommitScript.class, "inbox.lua", "journal.lua", "commit.lua");

  /** The same for commits that have messages: several times as long. */
  public static final LuaScript WITH_MESSAGES =
      LuaScript.of(
          CommitScript.class, "inbox.lua", "topic.lua", "batches.lua", "journal.lua", "commit.lua");

  /** A script holds Redis for as long as it takes; an owner with few rows, as most are, is one. */
  private static final int ROWS_AT_ONCE = 500;

  private static final int BYTES_AT_ONCE = 4 << 20;

  private CommitScript() {}

  /**
   * One session's share of a commit.
   *
   * @param rows key, image, key, image ...
   */
  public record Part(SessionKeys keys, List<byte[]> rows) {}

  /**
   * A commit.
   *
   * @param dueMillis when its rows are due
   * @param messages null for none; of a replay its acknowledgements alone
   */
  public record Arguments(
      WalCall call,
      long sequence,
      long dueMillis,
      List<Part> parts,
      @Nullable MessageCommit messages) {
    /** Its rows alone. */
    public Arguments withoutMessages() {
      return new Arguments(call, sequence, dueMillis, parts, null);
    }

    /** About what it takes on its way: rows and messages. */
    public int bytes() {
      int sum = parts.stream().flatMap(of -> of.rows.stream()).mapToInt(of -> of.length).sum();
      if (messages != null) {
        sum += messages.messages().stream().mapToInt(SlotMessages::bytes).sum();
      }
      return sum;
    }

    /** KEYS: each slot once. */
    private Map<Integer, byte[]> keys() {
      Map<Integer, byte[]> keys = new LinkedHashMap<>();
      for (Part part : parts) {
        keys.putIfAbsent(part.keys.slot.slot(), SlotKeys.bytes(part.keys.slot.prefix()));
      }
      if (messages != null) {
        for (SlotMessages of : messages.messages()) {
          keys.putIfAbsent(of.slot(), SlotKeys.bytes(call.slots()[of.slot()].prefix()));
        }
      }
      return keys;
    }

    private List<byte[]> values(Set<Integer> keys) {
      Map<Integer, Integer> places = new HashMap<>();
      keys.forEach(slot -> places.put(slot, places.size() + 1));
      List<byte[]> args = new ArrayList<>();
      args.add(call.walId());
      args.add(call.mode().word());
      args.add(LuaScript.number(sequence));
      args.add(LuaScript.number(call.open()));
      call.moves().forEach(move -> move.write(args));
      args.add(LuaScript.number(parts.size()));
      for (Part part : parts) {
        args.add(LuaScript.number(Objects.requireNonNull(places.get(part.keys.slot.slot()))));
        args.add(part.keys.owner);
        args.add(part.keys.session);
        args.add(LuaScript.number(dueMillis));
        args.add(LuaScript.number(part.rows.size() / 2));
        args.addAll(part.rows);
      }
      if (messages != null) {
        MessageBatches batches = new MessageBatches(places);
        batches.addWhole(messages, 0);
        batches.write(args);
      }
      return args;
    }
  }

  /**
   * Sends by text: between other commands a forgotten script could not be loaded in time. A commit
   * with messages goes as by {@link #send}: its script is several times as long.
   */
  public static CompletionStage<List<Object>> sendText(RedisConnection redis, Arguments commit) {
    if (commit.messages != null) {
      return send(redis, commit);
    }
    Map<Integer, byte[]> keys = commit.keys();
    return redis
        .async()
        .eval(
            SCRIPT.text(),
            ScriptOutputType.MULTI,
            keys.values().toArray(byte[][]::new),
            commit.values(keys.keySet()).toArray(byte[][]::new));
  }

  /** Has Redis know the scripts, with messages and without; see {@link #send}. */
  public static void load(RedisConnection redis) {
    SCRIPT.load(redis);
    WITH_MESSAGES.load(redis);
  }

  /** Sends by SHA-1; the scripts were {@linkplain #load loaded} on this connection. */
  public static CompletionStage<List<Object>> send(RedisConnection redis, Arguments commit) {
    Map<Integer, byte[]> keys = commit.keys();
    List<byte[]> values = commit.values(keys.keySet());
    return (commit.messages == null ? SCRIPT : WITH_MESSAGES)
        .send(redis, List.copyOf(keys.values()), values);
  }

  /**
   * Puts rows that Redis lost back under their session, due at once, never over a newer row. Not a
   * commit: no journal mark moves on. Where another session owns, nothing is written.
   */
  public static void putBack(
      RedisConnection redis, SlotKeys slot, SessionRef session, List<EncodedRow> rows) {
    SessionKeys keys = new SessionKeys(slot, session);
    List<byte[]> some = new ArrayList<>();
    long bytes = 0;
    for (EncodedRow row : rows) {
      if (some.size() == 2 * ROWS_AT_ONCE
          || (!some.isEmpty() && bytes + row.image().length > BYTES_AT_ONCE)) {
        putBack(redis, new Part(keys, List.copyOf(some)));
        some.clear();
        bytes = 0;
      }
      some.add(SlotKeys.bytes(row.key()));
      some.add(row.image());
      bytes += row.image().length;
    }
    putBack(redis, new Part(keys, some));
  }

  private static void putBack(RedisConnection redis, Part rows) {
    WalCall replay = WalCall.ofReplay(new SlotKeys[0]);
    List<Object> unused =
        RedisReply.await(sendText(redis, new Arguments(replay, 0, 0, List.of(rows), null)));
  }
}
