package io.gameq.redis.script;

import io.gameq.change.SlotMessages;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SessionKeys;
import io.gameq.redis.SlotKeys;
import io.lettuce.core.ScriptOutputType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * {@code commit.lua}: one commit as a script: spanning, with messages, sent again or replayed.
 * Stateless.
 */
public final class CommitScript {
  private static final LuaScript SCRIPT =
      LuaScript.of(CommitScript.class, "inbox.lua", "commit.lua");

  /** The same for commits that have messages: several times as long. */
  private static final LuaScript WITH_MESSAGES =
      LuaScript.of(CommitScript.class, "inbox.lua", "topic.lua", "batches.lua", "commit.lua");

  private CommitScript() {}

  /**
   * One session's share of a commit.
   *
   * @param rows key, image, key, image ...
   * @param reached of an inbox, the newest sequence of the WAL that Redis has acknowledged in its
   *     slot; else 0
   */
  public record Part(SessionKeys keys, List<byte[]> rows, long reached) {
    public Part(SessionKeys keys, List<byte[]> rows) {
      this(keys, rows, 0);
    }
  }

  /**
   * A commit: its WAL record, when its rows are due, its parts, and its messages if it has any;
   * {@link SlotMessages#before} as {@link MessageCommit} says. Without bytes in {@code walId} it
   * leaves no journal mark. Of a replay, {@code messages} are its acknowledgements alone.
   */
  public record Arguments(
      byte[] walId,
      long sequence,
      long dueMillis,
      List<Part> parts,
      @Nullable MessageCall messages) {
    /** A commit without messages. */
    public Arguments(byte[] walId, long sequence, long dueMillis, List<Part> parts) {
      this(walId, sequence, dueMillis, parts, null);
    }

    /** Its rows alone. */
    public Arguments withoutMessages() {
      return new Arguments(walId, sequence, dueMillis, parts);
    }

    /** About what it takes on its way: rows and messages. */
    public int bytes() {
      int sum = 0;
      for (Part part : parts) {
        sum += part.rows.stream().mapToInt(keyOrImage -> keyOrImage.length).sum();
      }
      if (messages != null) {
        sum += messages.commit().messages().stream().mapToInt(SlotMessages::bytes).sum();
      }
      return sum;
    }

    private byte[][] keys() {
      List<byte[]> keys = new ArrayList<>();
      parts.forEach(part -> keys.add(SlotKeys.bytes(part.keys.slot.prefix())));
      if (messages != null) {
        for (SlotMessages of : messages.commit().messages()) {
          keys.add(SlotKeys.bytes(messages.slots()[of.slot()].prefix()));
        }
      }
      return keys.toArray(byte[][]::new);
    }

    /** With a mode for a commit without messages. */
    private byte[][] values(MessagesScript.Mode withoutMessages) {
      List<byte[]> args = new ArrayList<>();
      args.add(walId);
      args.add(MessageBatch.number(sequence));
      args.add(MessageBatch.number(parts.size()));
      args.add(MessageBatch.number(messages == null ? 0 : messages.kept()));
      args.add((messages == null ? withoutMessages : mode(messages)).word());
      for (Part part : parts) {
        args.add(part.keys.owner);
        args.add(part.keys.session);
        args.add(MessageBatch.number(part.reached));
        args.add(MessageBatch.number(dueMillis));
        args.add(MessageBatch.number(part.rows.size() / 2));
        args.addAll(part.rows);
      }
      if (messages != null) {
        MessageBatches batches = new MessageBatches(places(messages.commit()));
        batches.addWhole(messages.commit(), 0);
        batches.write(args);
      }
      return args.toArray(byte[][]::new);
    }

    private static MessagesScript.Mode mode(MessageCall messages) {
      return MessagesScript.Mode.of(messages.isReplay(), List.of(messages.commit()));
    }

    /** Where the slots of messages stand in KEYS, from 1. */
    private Map<Integer, Integer> places(MessageCommit commit) {
      Map<Integer, Integer> places = new HashMap<>();
      for (SlotMessages of : commit.messages()) {
        places.put(of.slot(), parts.size() + places.size() + 1);
      }
      return places;
    }
  }

  /**
   * Sends by text: between other commands a forgotten script could not be loaded in time. A commit
   * with messages goes as by {@link #send}: its script is several times as long.
   *
   * @param isAgain whether Redis may hold it already
   */
  public static CompletionStage<List<Object>> sendText(
      RedisConnection redis, Arguments commit, boolean isAgain) {
    if (commit.messages != null) {
      return send(redis, commit);
    }
    return redis
        .async()
        .eval(
            SCRIPT.text(),
            ScriptOutputType.MULTI,
            commit.keys(),
            commit.values(isAgain ? MessagesScript.Mode.AGAIN : MessagesScript.Mode.FIRST));
  }

  /** Has Redis know the scripts, with messages and without; see {@link #send}. */
  public static void load(RedisConnection redis) {
    SCRIPT.load(redis);
    WITH_MESSAGES.load(redis);
  }

  /**
   * Sends by SHA-1; the scripts were {@linkplain #load loaded} on this connection. A commit without
   * messages is replayed: it was taken before.
   */
  public static CompletionStage<List<Object>> send(RedisConnection redis, Arguments commit) {
    byte[][] values = commit.values(MessagesScript.Mode.REPLAY);
    return commit.messages == null
        ? SCRIPT.send(redis, commit.keys(), values)
        : WITH_MESSAGES.send(redis, List.of(commit.keys()), List.of(values));
  }
}
