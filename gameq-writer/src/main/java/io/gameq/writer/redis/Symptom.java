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
 * Something in a slot that is not as it should be: {@code doctor.lua} finds it, {@code mend.lua}
 * mends it. Immutable; the same twice means that nobody has touched it in between.
 *
 * @param kind as {@code ailments.lua} calls it
 * @param state in which it is, with the token of a claim; never a value of a row
 */
public record Symptom(Thing thing, String kind, String state) {
  private static final LuaScript DOCTOR = script("doctor.lua");
  private static final LuaScript MEND = script("mend.lua");

  /** About ten commands each: half a millisecond of Redis. */
  public static final int MOST_AT_ONCE = 50;

  private static LuaScript script(String resource) {
    return LuaScript.of(
        Symptom.class,
        "claims.lua",
        "inbox.lua",
        "topic.lua",
        "ailments.lua",
        "topicailments.lua",
        resource);
  }

  /**
   * A thing in a slot, as {@code ailments.lua} names it.
   *
   * @param place such as {@code due}, {@code dirty} or {@code key}
   * @param more empty where the name is enough
   */
  public record Thing(int slot, String place, String name, String more) {
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
   * Looks at things, over a connection that no other thread uses meanwhile.
   *
   * @param namespace of the slots, which may be others than there are now
   * @return what is wrong with some of them
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static List<Symptom> among(
      RedisConnection redis, String namespace, Collection<Thing> things) {
    Map<Integer, List<Thing>> bySlot =
        things.stream()
            .collect(Collectors.groupingBy(Thing::slot, LinkedHashMap::new, Collectors.toList()));
    List<Thing> asked = new ArrayList<>();
    List<LuaScript.Call> calls = new ArrayList<>();
    bySlot.forEach(
        (slot, all) -> {
          for (List<Thing> some : LuaScript.pieces(all, MOST_AT_ONCE)) {
            asked.addAll(some);
            calls.add(
                new LuaScript.Call(
                    new SlotKeys(namespace, slot), some.stream().map(Thing::words).toList()));
          }
        });
    List<LuaScript.Answer<List<Object>>> answers = DOCTOR.callEach(redis, calls);
    List<Symptom> found = new ArrayList<>();
    Iterator<Thing> thing = asked.iterator();
    for (LuaScript.Answer<List<Object>> answer : answers) {
      for (Object reply : answer.get()) {
        List<?> of = (List<?>) reply;
        Thing about = thing.next();
        if (!of.isEmpty()) {
          found.add(new Symptom(about, LuaScript.string(of.get(0)), LuaScript.string(of.get(1))));
        }
      }
    }
    return found;
  }

  /**
   * Mends it, if it is still as it was found; deletes no row.
   *
   * @return false when it is not so any more, or cannot be mended: nothing was changed then
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; it may be mended then
   */
  public boolean mend(RedisConnection redis, String namespace) {
    List<Object> reply =
        MEND.call(redis, new SlotKeys(namespace, thing.slot), thing.words(), kind, state);
    return (Long) reply.get(0) == 1;
  }
}
