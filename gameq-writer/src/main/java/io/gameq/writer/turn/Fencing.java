package io.gameq.writer.turn;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.script.OwnKey;

/**
 * About to tell Redis that MySQL has ended an owner's session: what it committed is parked, and its
 * node is told. Without this step, as when the writer dies, each flush of the owner is refused
 * until {@link AskingForOpening} takes it.
 *
 * @param by the session that counts now, which nobody has
 */
public record Fencing(OwnerId owner, SessionId by, Turn then) implements Turn {
  @Override
  public Turn next(TurnPorts ports) {
    OwnKey.fence(ports.redis(), ports.slots().of(owner), owner, by);
    return then;
  }
}
