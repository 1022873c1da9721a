package io.gameq.redis.topic;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** What the scripts of consumers have in common. Stateless. */
final class TopicScript {
  /** Calls on several messages are cut into such pieces: each holds Redis for a millisecond. */
  private static final int MOST_AT_ONCE = 200;

  private TopicScript() {}

  /** A script of this package, with what all of them need in front. */
  static LuaScript of(String resource) {
    return LuaScript.of(
        TopicScript.class, "/io/gameq/redis/script/topic.lua", "lanes.lua", resource);
  }

  /** What a script takes of one message. */
  record Item(TakenMessage taken, List<String> args) {}

  /**
   * Calls a script that answers a number for each message, in one go over a connection that no
   * other thread uses meanwhile.
   *
   * @param head arguments in front of those of the messages
   * @return the numbers, in the order of the messages
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; some may be done then
   */
  static List<Long> callEach(
      LuaScript script,
      RedisConnection redis,
      SlotKeys[] slots,
      List<String> head,
      List<Item> items) {
    Map<Integer, List<Integer>> bySlot = new LinkedHashMap<>();
    for (int i = 0; i < items.size(); i++) {
      bySlot.computeIfAbsent(items.get(i).taken.slot(), slot -> new ArrayList<>()).add(i);
    }
    List<List<Integer>> pieces = new ArrayList<>();
    for (List<Integer> all : bySlot.values()) {
      for (int from = 0; from < all.size(); from += MOST_AT_ONCE) {
        pieces.add(all.subList(from, Math.min(all.size(), from + MOST_AT_ONCE)));
      }
    }
    List<LuaScript.Call> calls = new ArrayList<>();
    for (List<Integer> piece : pieces) {
      List<String> args = new ArrayList<>(head);
      piece.forEach(i -> args.addAll(items.get(i).args));
      calls.add(new LuaScript.Call(slots[items.get(piece.get(0)).taken.slot()], args));
    }
    List<LuaScript.Answer> answers = script.callEach(redis, calls);
    Long[] numbers = new Long[items.size()];
    for (int p = 0; p < pieces.size(); p++) {
      List<Object> reply = answers.get(p).get();
      for (int i = 0; i < reply.size(); i++) {
        numbers[pieces.get(p).get(i)] = (Long) reply.get(i);
      }
    }
    List<Long> all = new ArrayList<>(numbers.length);
    for (Long number : numbers) {
      all.add(Objects.requireNonNull(number));
    }
    return all;
  }

  /** Text of any characters as an argument, of which each character stands for a byte. */
  static String bytes(String text) {
    return new String(text.getBytes(UTF_8), ISO_8859_1);
  }

  /** Such text out of a reply. */
  static String text(Object reply) {
    return new String((byte[]) reply, UTF_8);
  }

  /** A score of a sorted set, as text. */
  static long millis(Object reply) {
    return (long) Double.parseDouble(LuaScript.string(reply));
  }
}
