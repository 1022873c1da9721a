package io.gameq.writer.turn;

import io.gameq.redis.script.ClaimScript;
import java.util.List;

/** About to take back what writers that are gone had claimed of a slot: whose leases ran out. */
public record Reaping(int slot) implements Turn {
  @Override
  public Turn next(TurnPorts ports) {
    List<ClaimScript.Reaped> reaped = ClaimScript.reap(ports.redis(), ports.slots().get(slot));
    ports.context().reports().reaped(reaped);
    return reaped.size() == ClaimScript.MOST_REAPED ? this : then();
  }

  @Override
  public Turn then() {
    return new Ended();
  }
}
