package io.gameq.redis.script;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit.CommitPart;
import io.gameq.message.MessageChange;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.SlotKeys.SessionKeys;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import io.gameq.redis.script.MessagesScript.MessageBatches;
import io.gameq.redis.script.MessagesScript.WalCall;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

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
   * A commit as scripts take it. Immutable but for the versions inside images and values.
   *
   * @param sequence in its WAL
   * @param version of its messages
   * @param isUrgent whether its rows are due at once
   * @param parts none for a commit of messages alone
   * @param messages in order; of a replay with rows its acknowledgements alone
   */
  public record ScriptCommit(
      long sequence,
      long version,
      boolean isUrgent,
      List<CommitPart> parts,
      List<MessageChange> messages) {
    /** A commit of messages alone. */
    public ScriptCommit(long sequence, long version, List<MessageChange> messages) {
      this(sequence, version, false, List.of(), messages);
    }

    /** Its rows alone. */
    public ScriptCommit withoutMessages() {
      return new ScriptCommit(sequence, version, isUrgent, parts, List.of());
    }

    /** About what it takes on its way: rows and messages. */
    public int bytes() {
      return (int) parts.stream().mapToLong(CommitPart::bytes).sum()
          + messages.stream().mapToInt(MessageChange::bytes).sum();
    }

    /** The slots that it touches, each once, first those with rows. */
    Stream<Integer> slots() {
      return Stream.concat(
              parts.stream().map(of -> of.session().slot()),
              messages.stream().map(MessageChange::slot))
          .distinct();
    }

    /** KEYS: each slot once. */
    private List<byte[]> keys(WalCall call) {
      return slots().map(slot -> SlotKeys.bytes(call.slots()[slot].prefix())).toList();
    }

    private List<byte[]> values(WalCall call, List<SlotMarks.Move> moves) {
      Map<Integer, Integer> places = new HashMap<>();
      slots().forEach(slot -> places.put(slot, places.size() + 1));
      List<byte[]> args = new ArrayList<>();
      args.add(call.walId());
      args.add(call.mode().word());
      args.add(LuaScript.number(sequence));
      args.add(LuaScript.number(call.open()));
      moves.forEach(move -> move.write(args));
      args.add(LuaScript.number(parts.size()));
      for (CommitPart part : parts) {
        SessionKeys keys = SessionKeys.of(call.slots(), part.session());
        args.add(LuaScript.number(Objects.requireNonNull(places.get(part.session().slot()))));
        args.add(keys.owner);
        args.add(keys.session);
        args.add(LuaScript.number(call.due(isUrgent)));
        args.add(LuaScript.number(part.rows().size()));
        for (ChangedRow row : part.rows()) {
          args.add(row.keyBytes());
          args.add(row.image());
        }
      }
      if (!messages.isEmpty()) {
        MessageBatches batches = new MessageBatches(places);
        batches.addWhole(this, 0);
        batches.write(args);
      }
      return args;
    }
  }

  /** Has Redis know the scripts, with messages and without; see {@link #send}. */
  public static void load(RedisConnection redis) {
    SCRIPT.load(redis);
    WITH_MESSAGES.load(redis);
  }

  /**
   * Sends by SHA-1; the scripts were {@linkplain #load loaded} on this connection.
   *
   * @param moves of the journal marks, one for each of the commit's slots in their order; none of a
   *     replay
   */
  public static CompletionStage<List<Object>> send(
      RedisConnection redis, WalCall call, List<SlotMarks.Move> moves, ScriptCommit commit) {
    return (commit.messages.isEmpty() ? SCRIPT : WITH_MESSAGES)
        .send(redis, commit.keys(call), commit.values(call, moves));
  }

  /**
   * Puts rows that Redis lost back under their session, due at once, never over a newer row. Not a
   * commit: no journal mark moves on. Where another session owns, nothing is written.
   */
  public static void putBack(
      RedisConnection redis, SlotKeys[] slots, SessionRef session, List<EncodedRow> rows) {
    List<ChangedRow> some = new ArrayList<>();
    long bytes = 0;
    for (EncodedRow row : rows) {
      if (some.size() == ROWS_AT_ONCE
          || (!some.isEmpty() && bytes + row.image().length > BYTES_AT_ONCE)) {
        putBack(redis, slots, new CommitPart(session, some));
        some = new ArrayList<>();
        bytes = 0;
      }
      some.add(new ChangedRow(row));
      bytes += row.image().length;
    }
    putBack(redis, slots, new CommitPart(session, some));
  }

  private static void putBack(RedisConnection redis, SlotKeys[] slots, CommitPart rows) {
    ScriptCommit commit = new ScriptCommit(0, 0, false, List.of(rows), List.of());
    WalCall call = WalCall.ofReplay(slots, 0);
    byte[][] keys = commit.keys(call).toArray(byte[][]::new);
    List<Object> unused = SCRIPT.call(redis, keys, commit.values(call, List.of()));
  }
}
