package io.gameq.writer.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.redis.script.LuaScript;
import io.gameq.rights.RightsTest;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScriptRightsTest {
  @Test
  void eachCommandOfAScriptIsAllowedToSomebody() {
    RightsTest.assertSomebodyMay(
        List.of(
                "doctor.lua",
                "mend.lua",
                "ailments.lua",
                "topicailments.lua",
                "trace.lua",
                "stale.lua",
                "discard.lua",
                "firsts.lua",
                "unwritten.lua",
                "handled.lua",
                "park.lua")
            .stream()
            .map(of -> new String(LuaScript.of(Finding.class, of).text(), UTF_8))
            .toList());
  }
}
