package io.gameq.writer.campaign;

import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.CommitScript;
import io.gameq.redis.script.SessionScripts;
import io.gameq.redis.topic.ConsumerScripts;
import io.lettuce.core.codec.Base16;

/** By what EVALSHA names gameq's scripts on the wire. Stateless. */
public final class ScriptSha {
  static final String OPEN = Base16.digest(SessionScripts.OPEN.text());

  /** A commit that is replayed, spans sessions, or is sent again; others go by MULTI. */
  public static final String REPLAY = Base16.digest(CommitScript.SCRIPT.text());

  static final String ACK = Base16.digest(ClaimScript.ACK.textOfEach());

  /** A commit of rows and messages. */
  static final String WITH_MESSAGES = Base16.digest(CommitScript.WITH_MESSAGES.text());

  static final String TAKE = Base16.digest(ConsumerScripts.TAKE.textOfEach());
  static final String EXTEND = Base16.digest(ConsumerScripts.EXTEND.textOfEach());

  private ScriptSha() {}
}
