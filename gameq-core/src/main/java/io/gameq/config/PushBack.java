package io.gameq.config;

import io.gameq.PushBackException;
import io.gameq.Urgency;

/**
 * What a node does to its game's commits while a threshold of the backlog is passed; see {@link
 * GameQueueConfigBuilder#pushBackAtAge}. Commits that are {@linkplain Urgency#URGENT urgent}, and
 * the last one of a session that is closed, are neither slowed nor refused.
 */
public enum PushBack {
  /** Nothing but what every policy does: the game is told by {@code onPressure}. */
  CALLBACK,
  /**
   * Each commit waits until the pressure ends, at most as long as {@link
   * GameQueueConfigBuilder#maxSlowdown} says and never beyond its own deadline; then it is taken.
   */
  SLOW,
  /** Each commit is refused with {@link PushBackException} before anything is written. */
  REFUSE
}
