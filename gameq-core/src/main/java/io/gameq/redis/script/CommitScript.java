package io.gameq.redis.script;

import io.gameq.change.SlotMessages;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SessionKeys;
import io.gameq.redis.SlotKeys;
import io.lettuce.core.ScriptOutputType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * {@code commit.lua}: one commit as a script: spanning, with messages, sent again or replayed.
 * Stateless.
 */
public final class CommitScript {
  private static final LuaScript SCRIPT =
      LuaScript.of(CommitScript.class, "inbox.lua", "journal.lua", "commit.lua");

  /** The same for commits that have messages: several times as long. */
  private static final LuaScript WITH_MESSAGES =
      LuaScript.of(
          CommitScript.class, "inbox.lua", "topic.lua", "batches.lua", "journal.lua", "commit.lua");

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
   * @param walId empty of a replay, which moves no journal marks
   * @param open the oldest sequence that waits for an answer
   * @param dueMillis when its rows are due
   * @param messages null for none; of a replay its acknowledgements alone
   * @param slots of the namespace, by number; not looked at without messages
   * @param moves of the journal marks, one for each slot: first those of parts, then those of
   *     messages; none of a replay
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  public record Arguments(
      byte[] walId,
      MessagesScript.Mode mode,
      long sequence,
      long open,
      long dueMillis,
      List<Part> parts,
      @Nullable MessageCommit messages,
      SlotKeys[] slots,
      List<SlotMarks.Move> moves) {
    /** Out of a WAL. */
    public static Arguments ofReplay(
        long sequence,
        long dueMillis,
        List<Part> parts,
        @Nullable MessageCommit messages,
        SlotKeys[] slots) {
      return new Arguments(
          new byte[0],
          MessagesScript.Mode.REPLAY,
          sequence,
          0,
          dueMillis,
          parts,
          messages,
          slots,
          List.of());
    }

    /** Its rows alone. */
    public Arguments withoutMessages() {
      return new Arguments(walId, mode, sequence, open, dueMillis, parts, null, slots, moves);
    }

    /** About what it takes on its way: rows and messages. */
    public int bytes() {
      int sum = 0;
      for (Part part : parts) {
        sum += part.rows.stream().mapToInt(keyOrImage -> keyOrImage.length).sum();
      }
      if (messages != null) {
        sum += messages.messages().stream().mapToInt(SlotMessages::bytes).sum();
      }
      return sum;
    }

    /** Where each slot stands in KEYS, from 1. */
    private Map<Integer, Integer> places() {
      Map<Integer, Integer> places = new LinkedHashMap<>();
      for (Part part : parts) {
        places.putIfAbsent(part.keys.slot.slot(), places.size() + 1);
      }
      if (messages != null) {
        for (SlotMessages of : messages.messages()) {
          places.putIfAbsent(of.slot(), places.size() + 1);
        }
      }
      return places;
    }

    private byte[][] keys() {
      Map<Integer, byte[]> keys = new LinkedHashMap<>();
      for (Part part : parts) {
        keys.putIfAbsent(part.keys.slot.slot(), SlotKeys.bytes(part.keys.slot.prefix()));
      }
      if (messages != null) {
        for (SlotMessages of : messages.messages()) {
          keys.putIfAbsent(of.slot(), SlotKeys.bytes(slots[of.slot()].prefix()));
        }
      }
      return keys.values().toArray(byte[][]::new);
    }

    private byte[][] values() {
      Map<Integer, Integer> places = places();
      List<byte[]> args = new ArrayList<>();
      args.add(walId);
      args.add(mode.word());
      args.add(MessageBatch.number(sequence));
      args.add(MessageBatch.number(open));
      moves.forEach(move -> move.write(args));
      args.add(MessageBatch.number(parts.size()));
      for (Part part : parts) {
        args.add(MessageBatch.number(Objects.requireNonNull(places.get(part.keys.slot.slot()))));
        args.add(part.keys.owner);
        args.add(part.keys.session);
        args.add(MessageBatch.number(dueMillis));
        args.add(MessageBatch.number(part.rows.size() / 2));
        args.addAll(part.rows);
      }
      if (messages != null) {
        MessageBatches batches = new MessageBatches(places);
        batches.addWhole(messages, 0);
        batches.write(args);
      }
      return args.toArray(byte[][]::new);
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
    return redis
        .async()
        .eval(SCRIPT.text(), ScriptOutputType.MULTI, commit.keys(), commit.values());
  }

  /** Has Redis know the scripts, with messages and without; see {@link #send}. */
  public static void load(RedisConnection redis) {
    SCRIPT.load(redis);
    WITH_MESSAGES.load(redis);
  }

  /** Sends by SHA-1; the scripts were {@linkplain #load loaded} on this connection. */
  public static CompletionStage<List<Object>> send(RedisConnection redis, Arguments commit) {
    return commit.messages == null
        ? SCRIPT.send(redis, commit.keys(), commit.values())
        : WITH_MESSAGES.send(redis, List.of(commit.keys()), List.of(commit.values()));
  }
}
