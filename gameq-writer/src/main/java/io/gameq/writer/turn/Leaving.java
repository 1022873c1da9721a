package io.gameq.writer.turn;

import io.gameq.redis.script.Claim;
import java.util.List;

/**
 * About to give claims back to a primary that was demoted: what it holds is not flushed, the nodes
 * put it back on the new one, which the next turn connects to.
 */
public record Leaving(List<Claim> batch, Ended then) implements Turn {
  @Override
  public Turn next(TurnPorts ports) {
    try {
      return GivingBack.forNextTurn(batch, then).next(ports);
    } finally {
      ports.leave();
    }
  }

  @Override
  public List<Claim> claims() {
    return batch;
  }
}
