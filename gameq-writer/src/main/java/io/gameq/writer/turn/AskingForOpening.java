package io.gameq.writer.turn;

import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import java.util.List;
import java.util.Map;

/**
 * About to ask MySQL which of the owners that were refused have had their session for so long that
 * Redis should know it: its node died in mid-open, or a failover lost that and nobody healed it in
 * a lease's time. Their rows must not wait for the next login.
 */
public record AskingForOpening(List<OwnerId> owners, Turn then) implements Turn {
  @Override
  public Turn next(TurnPorts ports) {
    TurnContext context = ports.context();
    Map<OwnerId, CountingSessions> durable =
        context.mysql().sessions().raisedBefore(owners, context.options().bounds().leaseMillis());
    Turn next = then;
    for (OwnerId owner : owners) {
      CountingSessions sessions = durable.get(owner);
      next = sessions == null ? next : Reasserting.orFinishing(owner, sessions, next);
    }
    return next;
  }
}
