package io.gameq.writer.turn;

import io.gameq.redis.script.ReapScript;
import java.util.List;

/** About to take back what writers that are gone had claimed of a slot: whose leases ran out. */
public record Reaping(int slot) implements Turn {
  @Override
  public Turn next(TurnPorts ports) {
    List<ReapScript.Reaped> reaped = ReapScript.call(ports.redis(), ports.slots().get(slot));
    ports.context().reports().reaped(reaped);
    return reaped.size() == ReapScript.MOST ? this : then();
  }

  @Override
  public Turn then() {
    return new Ended();
  }
}
