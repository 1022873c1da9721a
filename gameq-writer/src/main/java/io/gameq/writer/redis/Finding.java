package io.gameq.writer.redis;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * An entry of a slot that contradicts others: {@code doctor.lua} finds it, {@code mend.lua} repairs
 * it. Immutable; two equal findings mean that nobody touched the entry in between.
 *
 * @param kind as {@code ailments.lua} calls it
 * @param state in which it is, with the token of a claim; never a value of a row
 */
public record Finding(SlotEntry thing, String kind, String state) {
  private static final LuaScript DOCTOR = script("doctor.lua");
  private static final LuaScript MEND = script("mend.lua");

  /** About ten commands each: half a millisecond of Redis. */
  public static final int MOST_AT_ONCE = 50;

  private static LuaScript script(String resource) {
    return LuaScript.of(
        Finding.class,
        "claims.lua",
        "inbox.lua",
        "topic.lua",
        "ailments.lua",
        "topicailments.lua",
        resource);
  }

  /**
   * An entry of a slot, as {@code ailments.lua} names it.
   *
   * @param place such as {@code due}, {@code dirty} or {@code key}
   * @param more empty where the name is enough
   */
  public record SlotEntry(int slot, String place, String name, String more) {
    private List<String> words() {
      return List.of(place, name, more);
    }

    /** For a person to read. */
    @Override
    public String toString() {
      return "slot %s, %s %s%s".formatted(slot, place, name, more.isEmpty() ? "" : " " + more);
    }
  }

  /**
   * Looks at entries, over a connection that no other thread uses meanwhile.
   *
   * @param namespace of the slots, which may be others than there are now
   * @return what is wrong with some of them
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static List<Finding> among(
      RedisConnection redis, String namespace, Collection<SlotEntry> entries) {
    Map<Integer, List<SlotEntry>> bySlot =
        entries.stream()
            .collect(
                Collectors.groupingBy(SlotEntry::slot, LinkedHashMap::new, Collectors.toList()));
    List<SlotEntry> asked = new ArrayList<>();
    List<LuaScript.Call> calls = new ArrayList<>();
    bySlot.forEach(
        (slot, all) -> {
          for (List<SlotEntry> some : LuaScript.pieces(all, MOST_AT_ONCE)) {
            asked.addAll(some);
            calls.add(
                new LuaScript.Call(
                    new SlotKeys(namespace, slot), some.stream().map(SlotEntry::words).toList()));
          }
        });
    List<LuaScript.Answer<List<Object>>> answers = DOCTOR.callEach(redis, calls);
    List<Finding> found = new ArrayList<>();
    Iterator<SlotEntry> thing = asked.iterator();
    for (LuaScript.Answer<List<Object>> answer : answers) {
      for (Object reply : answer.get()) {
        List<?> of = (List<?>) reply;
        SlotEntry about = thing.next();
        if (!of.isEmpty()) {
          found.add(new Finding(about, LuaScript.string(of.get(0)), LuaScript.string(of.get(1))));
        }
      }
    }
    return found;
  }

  /**
   * Repairs it, if it is still as it was found; deletes no row.
   *
   * @return false when it changed or cannot be repaired: nothing was changed then
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; it may be repaired then
   */
  public boolean mend(RedisConnection redis, String namespace) {
    List<Object> reply =
        MEND.call(redis, new SlotKeys(namespace, thing.slot), thing.words(), kind, state);
    return (Long) reply.get(0) == 1;
  }
}
