package io.gameq.redis;

/**
 * {@code commit.lua}: one commit as a script, spanning or sent again. Stateless; {@link
 * CommitGroup} binds its arguments.
 */
final class CommitScript {
  static final byte[] TEXT = LuaScript.of(CommitScript.class, "commit.lua").text();

  private CommitScript() {}
}
