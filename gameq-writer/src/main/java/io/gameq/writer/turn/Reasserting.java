package io.gameq.writer.turn;

import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.redis.script.OwnKey;
import java.util.Objects;

/**
 * About to make the last session that was open own again where Redis forgot it. What an older one
 * committed since is parked: this one never saw it and must not adopt it now.
 *
 * @param durable by MySQL; has a session that was open
 */
public record Reasserting(OwnerId owner, CountingSessions durable, Turn then) implements Turn {
  /**
   * This, or where none was open the step after it.
   *
   * @param durable has not changed for so long that no open is under way
   */
  static Turn orFinishing(OwnerId owner, CountingSessions durable, Turn then) {
    return durable.lastOpen() != null
        ? new Reasserting(owner, durable, then)
        : refused(owner, durable, then);
  }

  @Override
  public Turn next(TurnPorts ports) {
    boolean owns =
        OwnKey.reassert(
            ports.redis(),
            ports.slots().of(owner),
            owner,
            Objects.requireNonNull(durable.lastOpen()));
    return owns ? then : refused(owner, durable, then);
  }

  /** Where a later one owns that counts no more, the open that came after it is finished. */
  private static Turn refused(OwnerId owner, CountingSessions durable, Turn then) {
    return durable.opening() ? new FinishingOpen(owner, durable.newest(), then) : then;
  }
}
