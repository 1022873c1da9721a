package io.gameq.redis.script;

import io.gameq.redis.RedisConnection;
import java.util.concurrent.CompletionStage;

/** What carries the commits of a group to Redis. As {@link CommitGroup}. */
interface CommitCommands {
  /** As {@link CommitGroup#send}. */
  CompletionStage<?> send(RedisConnection redis);

  /** As {@link CommitGroup#outcome}. */
  CommitGroup.Outcome outcome(int i);

  /** As {@link CommitGroup#answered}. */
  boolean answered();

  /** As {@link CommitGroup#refused}. */
  void refused();

  /** As {@link CommitGroup#wasDiscarded}. */
  default boolean wasDiscarded() {
    return false;
  }

  /** Why the stage failed, or the commands were discarded. */
  default Throwable whyFailed(Throwable error) {
    return error;
  }
}
