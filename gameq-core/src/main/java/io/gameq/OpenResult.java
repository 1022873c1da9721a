package io.gameq;

import io.gameq.config.Takeover;
import org.jspecify.annotations.Nullable;

/**
 * What became of one owner of {@link GameQueue#openAll}: either a session or a failure.
 *
 * @param owner as it was given
 * @param session null when the open failed
 * @param failure what {@link GameQueue#open(String, Takeover)} throws; null when it is open
 */
public record OpenResult(
    String owner, @Nullable OwnerSession session, @Nullable GameQueueException failure) {
  /** Whether the owner is open. */
  public boolean isOpen() {
    return session != null;
  }
}
