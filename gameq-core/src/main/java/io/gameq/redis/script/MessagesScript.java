package io.gameq.redis.script;

import io.gameq.change.SlotMessages;
import io.gameq.message.MessageChange.Publish;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.util.ArrayList;
import java.util.HashMap;
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
      LuaScript.of(MessagesScript.class, "topic.lua", "batches.lua", "messages.lua");

  private MessagesScript() {}

  /** How {@code batches.lua} is to take commits. */
  enum Mode {
    FIRST("0"),
    AGAIN("1"),
    REPLAY("2");

    private final String word;

    Mode(String word) {
      this.word = word;
    }

    byte[] word() {
      return SlotKeys.bytes(word);
    }

    /** Commits that tell what was sent before them are sent for the first time. */
    static Mode of(boolean isReplay, List<MessageCommit> commits) {
      if (isReplay) {
        return REPLAY;
      }
      for (MessageCommit commit : commits) {
        for (SlotMessages messages : commit.messages()) {
          if (messages.before() == 0) {
            return AGAIN;
          }
        }
      }
      return FIRST;
    }
  }

  /**
   * Commits of a WAL.
   *
   * @param kept sequence below which nothing is ever sent again or replayed
   * @param isReplay whether they come out of a WAL: then versions decide, and tokens do not
   * @param slots of the namespace, by number
   * @param commits in order of their sequences
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  public record Arguments(
      byte[] walId, long kept, boolean isReplay, SlotKeys[] slots, List<MessageCommit> commits) {}

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
   * Sends by SHA-1; the script was {@linkplain #load loaded} on this connection. The stage gives
   * the commits that were refused; it fails as the client's calls do: when Redis answered an error,
   * nothing of the call was applied.
   */
  public static CompletionStage<List<Refused>> send(RedisConnection redis, Arguments of) {
    Mode mode = Mode.of(of.isReplay, of.commits);
    Map<Integer, Chain> chains = new LinkedHashMap<>();
    boolean publishes = false;
    for (MessageCommit commit : of.commits) {
      for (SlotMessages messages : commit.messages()) {
        chains.computeIfAbsent(messages.slot(), slot -> new Chain(messages, commit)).last =
            commit.sequence();
        publishes |= messages.changes().stream().anyMatch(Publish.class::isInstance);
      }
    }
    Map<Integer, Integer> places = new HashMap<>();
    chains.keySet().forEach(slot -> places.put(slot, places.size() + 1));
    MessageBatches batches = new MessageBatches(places);
    for (int i = 0; i < of.commits.size(); i++) {
      if (mode == Mode.FIRST) {
        batches.add(of.commits.get(i), i);
      } else {
        batches.addWhole(of.commits.get(i), i);
      }
    }
    List<byte[]> args = new ArrayList<>(16 + 6 * of.commits.size());
    args.add(of.walId);
    args.add(MessageBatch.number(of.kept));
    args.add(mode.word());
    args.add(SlotKeys.bytes(publishes ? "1" : "0"));
    if (mode == Mode.FIRST) {
      chains.values().forEach(chain -> chain.write(args));
    }
    batches.write(args);
    List<byte[]> keys = new ArrayList<>();
    chains.keySet().forEach(slot -> keys.add(SlotKeys.bytes(of.slots[slot].prefix())));
    return SCRIPT.send(redis, keys, args).thenApply(reply -> refused(reply, batches));
  }

  /** What was sent to a slot before a call, the first of the call for it, and the last. */
  private static final class Chain {
    final long before;
    final long first;
    long last;

    Chain(SlotMessages messages, MessageCommit commit) {
      this.before = messages.before();
      this.first = commit.sequence();
    }

    void write(List<byte[]> to) {
      to.add(MessageBatch.number(before));
      to.add(MessageBatch.number(first));
      to.add(MessageBatch.number(last));
    }
  }

  private static List<Refused> refused(List<Object> reply, MessageBatches batches) {
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
