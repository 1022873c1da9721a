package io.gameq.writer.campaign;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.topic.TakeScript;
import io.lettuce.core.codec.Base16;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;

/** By what EVALSHA names gameq's scripts on the wire. Stateless. */
public final class ScriptSha {
  static final String OPEN = sha(LuaScript.class, "open.lua");

  /** A commit that is replayed; others go by MULTI or by the script's text. */
  public static final String REPLAY = sha(LuaScript.class, "commit.lua");

  static final String CLAIM = sha(ClaimScript.class, "claims.lua", "claim.lua");
  static final String ACK = sha(ClaimScript.class, "claims.lua", "ack.lua");

  /** A commit of rows and messages. */
  static final String WITH_MESSAGES =
      sha(LuaScript.class, "topic.lua", "batches.lua", "commit.lua");

  static final String TAKE = ofTopics("take.lua");
  static final String EXTEND = ofTopics("extend.lua");

  private ScriptSha() {}

  private static String ofTopics(String resource) {
    return digest(
        read(LuaScript.class, "slot.lua")
            + read(LuaScript.class, "topic.lua")
            + read(TakeScript.class, "lanes.lua")
            + read(TakeScript.class, resource));
  }

  private static String sha(Class<?> beside, String... resources) {
    StringBuilder text = new StringBuilder(read(LuaScript.class, "slot.lua"));
    for (String resource : resources) {
      text.append(read(beside, resource));
    }
    return digest(text.toString());
  }

  private static String digest(String script) {
    return Base16.digest(script.getBytes(UTF_8));
  }

  private static String read(Class<?> beside, String resource) {
    try (InputStream in = beside.getResourceAsStream(resource)) {
      return new String(Objects.requireNonNull(in, resource).readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
