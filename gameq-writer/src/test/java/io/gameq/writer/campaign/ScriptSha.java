package io.gameq.writer.campaign;

import io.gameq.redis.script.LuaScript;
import io.gameq.redis.topic.ConsumerScripts;
import io.lettuce.core.codec.Base16;

/** By what EVALSHA names gameq's scripts on the wire. Stateless. */
public final class ScriptSha {
  static final String OPEN = sha(LuaScript.class, "inbox.lua", "open.lua");

  /** A commit that is replayed; others go by MULTI or by the script's text. */
  public static final String REPLAY = sha(LuaScript.class, "inbox.lua", "commit.lua");

  static final String ACK = sha(LuaScript.class, "claims.lua", "inbox.lua", "ack.lua");

  /** A commit of rows and messages. */
  static final String WITH_MESSAGES =
      sha(LuaScript.class, "inbox.lua", "topic.lua", "batches.lua", "commit.lua");

  static final String TAKE = ofTopics("take.lua");
  static final String EXTEND = ofTopics("extend.lua");

  private ScriptSha() {}

  private static String ofTopics(String resource) {
    return sha(ConsumerScripts.class, "/io/gameq/redis/script/topic.lua", "lanes.lua", resource);
  }

  private static String sha(Class<?> beside, String... resources) {
    return Base16.digest(LuaScript.of(beside, resources).text());
  }
}
