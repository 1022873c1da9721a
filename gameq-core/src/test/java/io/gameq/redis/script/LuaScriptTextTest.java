package io.gameq.redis.script;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class LuaScriptTextTest {
  @Test
  void leavesCommentsOutAndSaysAtItsEndOfWhichFilesItIs() {
    String text = new String(LuaScript.of(SessionScripts.class, "open.lua").text(), UTF_8);
    List<String> comments = text.lines().filter(line -> line.startsWith("--")).toList();
    assertEquals(List.of("-- slot.lua open.lua"), comments);
    assertTrue(text.endsWith(comments.get(0)), text);
  }
}
