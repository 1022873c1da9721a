package io.gameq.redis.script;

import io.gameq.change.SlotMessages;
import io.gameq.message.MessageChange.Publish;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;

/**
 * {@code messages.lua}: many commits that change messages and no rows. Stateless.
 *
 * <p>The script holds Redis for about three microseconds a change: at most some 1,000 changes and 1
 * MB a call.
 */
public final class MessagesScript {
  private static final LuaScript SCRIPT =
      LuaScript.of(MessagesScript.class, "topic.lua", "batches.lua", "journal.lua", "messages.lua");

  private MessagesScript() {}

  /** How {@code batches.lua} is to take commits. */
  public enum Mode {
    /** For the first time: order of arrival counts. */
    FIRST("0"),
    /** Its answer was lost, and something newer may have come: versions count. */
    AGAIN("1"),
    /** Out of a WAL: versions count, and tokens do not. */
    REPLAY("2");

    private final String word;

    Mode(String word) {
      this.word = word;
    }

    byte[] word() {
      return SlotKeys.bytes(word);
    }
  }

  /**
   * Commits of a WAL.
   *
   * @param open the oldest sequence that waits for an answer
   * @param slots of the namespace, by number
   * @param commits in order of their sequences
   * @param moves of the journal marks, one for each slot in the order in which commits touch them;
   *     none of a replay
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  public record Arguments(
      byte[] walId,
      Mode mode,
      long open,
      SlotKeys[] slots,
      List<MessageCommit> commits,
      List<SlotMarks.Move> moves) {
    /** Out of a WAL. */
    public static Arguments ofReplay(SlotKeys[] slots, List<MessageCommit> commits) {
      return new Arguments(new byte[0], Mode.REPLAY, 0, slots, commits, List.of());
    }
  }

  /**
   * What Redis answered.
   *
   * @param fits whether the journal marks were as expected; else nothing was applied: Redis has
   *     lost something
   * @param marks that were there before, in the order of the moves
   * @param refused commits of which nothing was written
   */
  public record Answer(boolean fits, List<Long> marks, List<Refused> refused) {}

  /** Why a commit was refused. */
  public enum Kind {
    /** The token of an acknowledgement is not that of the claim any more. */
    CLAIM_LOST,
    /** A message is not what was expected. */
    CHANGED,
    /** Redis reached maxmemory. */
    FULL,
    /** Somebody else wrote something else there. */
    WRONG_TYPE
  }

  /**
   * A commit of which nothing was written.
   *
   * @param commit its number in the call, from 0
   * @param text which message, as {@code topic/id}; of {@link Kind#WRONG_TYPE} Redis' words
   */
  public record Refused(int commit, Kind kind, String text) {}

  /** Has Redis know the script; see {@link #send}. */
  public static void load(RedisConnection redis) {
    SCRIPT.load(redis);
  }

  /**
   * Sends by SHA-1; the script was {@linkplain #load loaded} on this connection. The stage fails as
   * the client's calls do: when Redis answered an error, nothing of the call was applied.
   */
  public static CompletionStage<Answer> send(RedisConnection redis, Arguments of) {
    Map<Integer, Integer> places = new LinkedHashMap<>();
    boolean publishes = false;
    for (MessageCommit commit : of.commits) {
      for (SlotMessages messages : commit.messages()) {
        places.putIfAbsent(messages.slot(), places.size() + 1);
        publishes |= messages.changes().stream().anyMatch(Publish.class::isInstance);
      }
    }
    MessageBatches batches = new MessageBatches(places);
    for (int i = 0; i < of.commits.size(); i++) {
      if (of.mode == Mode.FIRST) {
        batches.add(of.commits.get(i), i);
      } else {
        batches.addWhole(of.commits.get(i), i);
      }
    }
    List<byte[]> args = new ArrayList<>(16 + 6 * of.commits.size());
    args.add(of.walId);
    args.add(of.mode.word());
    args.add(SlotKeys.bytes(publishes ? "1" : "0"));
    args.add(LuaScript.number(of.commits.get(0).sequence()));
    args.add(LuaScript.number(of.commits.get(of.commits.size() - 1).sequence()));
    args.add(LuaScript.number(of.open));
    of.moves.forEach(move -> move.write(args));
    batches.write(args);
    List<byte[]> keys = new ArrayList<>();
    places.keySet().forEach(slot -> keys.add(SlotKeys.bytes(of.slots[slot].prefix())));
    return SCRIPT.send(redis, keys, args).thenApply(reply -> answer(reply, batches));
  }

  private static Answer answer(List<Object> reply, MessageBatches batches) {
    if ((Long) reply.get(0) == 0) {
      return new Answer(false, List.of(), List.of());
    }
    return new Answer(
        true, SlotMarks.marks(reply.get(1)), refused((List<?>) reply.get(2), batches));
  }

  private static List<Refused> refused(List<?> reply, MessageBatches batches) {
    if (reply.isEmpty()) {
      return List.of();
    }
    Map<Integer, Refused> refused = new TreeMap<>();
    for (int i = 0; i < reply.size(); i += 4) {
      int unit = ((Long) reply.get(i)).intValue();
      int item = ((Long) reply.get(i + 1)).intValue();
      Kind kind = kind(LuaScript.string(reply.get(i + 2)));
      String text = LuaScript.string(reply.get(i + 3));
      for (int commit : batches.commits(unit, item)) {
        refused.putIfAbsent(commit, new Refused(commit, kind, text));
      }
    }
    return List.copyOf(refused.values());
  }

  private static Kind kind(String word) {
    return switch (word) {
      case "claim" -> Kind.CLAIM_LOST;
      case "changed" -> Kind.CHANGED;
      case "full" -> Kind.FULL;
      default -> Kind.WRONG_TYPE;
    };
  }
}
