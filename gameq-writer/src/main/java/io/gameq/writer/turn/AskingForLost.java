package io.gameq.writer.turn;

import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.redis.script.Claim;
import java.util.List;
import java.util.Map;

/**
 * About to ask MySQL for the sessions of owners that were refused: it may have lost the newest with
 * its newest commits.
 */
public record AskingForLost(List<Claim> notOwned, Turn then) implements Turn {
  @Override
  public Turn next(TurnPorts ports) {
    List<OwnerId> owners = notOwned.stream().map(Claim::owner).toList();
    Map<OwnerId, CountingSessions> durable = ports.context().mysql().sessions().current(owners);
    Turn next = new AskingForOpening(owners, then);
    for (Claim of : notOwned) {
      CountingSessions sessions = durable.get(of.owner());
      if (of.session().isNewerThan(sessions == null ? null : sessions.newest())) {
        next = new Restoring(of.owner(), of.session(), next);
      }
    }
    return next;
  }
}
