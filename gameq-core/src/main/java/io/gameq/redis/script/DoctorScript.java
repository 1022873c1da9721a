package io.gameq.redis.script;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.Symptom.Thing;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** {@code doctor.lua}: what is wrong with things in slots. Stateless. */
public final class DoctorScript {
  private static final LuaScript SCRIPT =
      LuaScript.of(
          DoctorScript.class,
          "claims.lua",
          "inbox.lua",
          "topic.lua",
          "ailments.lua",
          "topicailments.lua",
          "doctor.lua");

  /** About ten commands each: half a millisecond of Redis. */
  public static final int MOST_AT_ONCE = 50;

  private DoctorScript() {}

  /**
   * Looks at things, over a connection that no other thread uses meanwhile.
   *
   * @param namespace of the slots, which may be others than there are now
   * @return what is wrong with some of them
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static List<Symptom> call(
      RedisConnection redis, String namespace, Collection<Thing> things) {
    Map<Integer, List<Thing>> bySlot = new LinkedHashMap<>();
    things.forEach(of -> bySlot.computeIfAbsent(of.slot(), slot -> new ArrayList<>()).add(of));
    List<List<Thing>> asked = new ArrayList<>();
    for (List<Thing> all : bySlot.values()) {
      for (int from = 0; from < all.size(); from += MOST_AT_ONCE) {
        asked.add(all.subList(from, Math.min(all.size(), from + MOST_AT_ONCE)));
      }
    }
    List<LuaScript.Answer> answers =
        SCRIPT.callEach(redis, asked.stream().map(of -> question(namespace, of)).toList());
    List<Symptom> found = new ArrayList<>();
    for (int i = 0; i < asked.size(); i++) {
      List<Object> reply = answers.get(i).get();
      for (int j = 0; j < reply.size(); j++) {
        List<?> of = (List<?>) reply.get(j);
        if (!of.isEmpty()) {
          found.add(
              new Symptom(
                  asked.get(i).get(j), LuaScript.string(of.get(0)), LuaScript.string(of.get(1))));
        }
      }
    }
    return found;
  }

  private static LuaScript.Call question(String namespace, List<Thing> things) {
    List<String> args = new ArrayList<>();
    things.forEach(of -> args.addAll(List.of(of.place(), of.name(), of.more())));
    return new LuaScript.Call(new SlotKeys(namespace, things.get(0).slot()), args);
  }
}
