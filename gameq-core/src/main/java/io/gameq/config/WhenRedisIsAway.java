package io.gameq.config;

import io.gameq.CommitReceipt;
import io.gameq.RedisUnavailableException;

/** What becomes of commits that are made while Redis is away, or a node is healing. */
public enum WhenRedisIsAway {
  /**
   * They fail at once with {@link RedisUnavailableException}, thrown by {@code commit}; what was
   * staged stays staged. Those that were sent before and have no answer yet still get theirs.
   */
  FAIL,
  /**
   * They are appended to the WAL, wait in order within {@link GameQueueConfigBuilder#maxJournal},
   * and succeed late. {@link CommitReceipt#journaled} tells when the WAL has one.
   */
  JOURNAL
}
