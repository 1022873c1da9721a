package io.gameq.writer.turn;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.script.OpenScript;

/** About to finish an open whose node is gone: its session adopts. */
public record FinishingOpen(OwnerId owner, SessionId session, Turn then) implements Turn {
  @Override
  public Turn next(TurnPorts ports) {
    ports.context().reports().finishesOpen(owner, session);
    OpenScript.call(ports.redis(), ports.slots().of(owner), owner, session, 0, true);
    return then;
  }
}
