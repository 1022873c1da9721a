package io.gameq.writer.turn;

import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.redis.script.ClaimScript;
import io.gameq.writer.turn.AfterFlush.Reasserting;
import java.util.List;

/** About to ask MySQL whose rows these are: Redis lost the session of their owner. */
public record AskingForUnowned(ClaimScript.Rows unowned, Turn then) implements Turn {
  @Override
  public Turn next(TurnPorts ports) {
    OwnerId owner = unowned.owner();
    CountingSessions durable =
        ports.context().mysql().sessions().current(List.of(owner)).get(owner);
    if (durable == null) {
      ports.context().reports().ofNobody(unowned);
      return then;
    }
    return Reasserting.orFinishing(owner, durable, then);
  }
}
