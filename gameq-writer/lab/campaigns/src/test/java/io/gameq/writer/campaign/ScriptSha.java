package io.gameq.writer.campaign;

import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.CommitScript;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.script.SessionScripts;
import io.gameq.redis.topic.ConsumerScripts;
import io.lettuce.core.codec.Base16;

/** By what EVALSHA names gameq's scripts on the wire. Stateless. */
public final class ScriptSha {
  static final String OPEN = of(SessionScripts.OPEN);

  /** A commit that is replayed; others go by MULTI or by the script's text. */
  public static final String REPLAY = of(CommitScript.SCRIPT);

  static final String ACK = ofEach(ClaimScript.ACK);

  /** A commit of rows and messages. */
  static final String WITH_MESSAGES = of(CommitScript.WITH_MESSAGES);

  static final String TAKE = ofEach(ConsumerScripts.TAKE);
  static final String EXTEND = ofEach(ConsumerScripts.EXTEND);

  private ScriptSha() {}

  private static String of(LuaScript script) {
    return Base16.digest(script.text());
  }

  private static String ofEach(LuaScript script) {
    return Base16.digest(script.textOfEach());
  }
}
