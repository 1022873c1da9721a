package io.gameq.redis.script;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.gameq.GameQueueException;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.Slots;
import io.gameq.servers.TestServers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LuaScriptTest {
  private final LuaScript script = LuaScript.of(LuaScriptTest.class, "echo.lua");
  private final Slots slots = new Slots("echo", 4);
  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.redisUri()));
  private final RedisConnection redis = connector.open();

  @AfterEach
  void close() {
    redis.close();
    connector.close();
  }

  private LuaScript.Call call(int slot, String argument) {
    return new LuaScript.Call(slots.get(slot), List.of(argument));
  }

  private static List<String> text(LuaScript.Answer<List<Object>> answer) {
    return answer.get().stream().map(LuaScript::string).toList();
  }

  @Test
  void severalCallsAnswerInTheirOrderAlsoWhenRedisDoesNotKnowTheScript() {
    for (int times = 1; times <= 2; times++) {
      List<LuaScript.Answer<List<Object>>> answers =
          script.callEach(redis, List.of(call(2, "a"), call(0, "b"), call(2, "c")));
      assertEquals(
          List.of(List.of("{echo:2}", "a"), List.of("{echo:0}", "b"), List.of("{echo:2}", "c")),
          answers.stream().map(LuaScriptTest::text).toList());
    }
  }

  @Test
  void aCallThatFailsDoesNotDisturbTheOthers() {
    List<LuaScript.Answer<List<Object>>> answers =
        script.callEach(redis, List.of(call(0, "a"), call(1, "fail"), call(2, "c")));
    assertEquals(List.of("{echo:0}", "a"), text(answers.get(0)));
    assertNotNull(answers.get(1).error());
    assertThrows(GameQueueException.class, () -> answers.get(1).get());
    assertEquals(List.of("{echo:2}", "c"), text(answers.get(2)));
  }

  @Test
  void severalCallsAnswerValuesOfAllKindsAsOneDoes() {
    assertEquals(
        texts(script.call(redis, slots.get(0), "kinds")),
        texts(script.callEach(redis, List.of(call(0, "kinds"))).get(0).get()));
  }

  private static List<?> texts(List<?> reply) {
    List<Object> texts = new ArrayList<>();
    for (Object of : reply) {
      texts.add(
          of instanceof List<?> list
              ? texts(list)
              : of instanceof byte[] b ? LuaScript.string(b) : of);
    }
    return texts;
  }

  @Test
  void theConnectionSendsAtOnceAfterwards() {
    script.callEach(redis, List.of(call(0, "a"), call(1, "b")));
    assertEquals(
        List.of("{echo:3}", "d"), text(script.callEach(redis, List.of(call(3, "d"))).get(0)));
  }
}
