package io.gameq.writer.turn;

import io.gameq.MySqlException;
import io.gameq.mysql.MySqlErrors;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;

/** About to write a session again that MySQL lost. */
public record Restoring(OwnerId owner, SessionId session, Turn then) implements Turn {
  @Override
  public Turn next(TurnPorts ports) {
    ports.context().reports().restores(owner, session);
    try {
      boolean unused = ports.context().mysql().sessions().restore(owner, session);
    } catch (MySqlException e) {
      if (!MySqlErrors.isTryAgain(e)) { // somebody locked him: he is tried with his next claim
        throw e;
      }
    }
    return then;
  }
}
