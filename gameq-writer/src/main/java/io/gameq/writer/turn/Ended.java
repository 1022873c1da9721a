package io.gameq.writer.turn;

import io.gameq.redis.script.ClaimScript.Claim;
import java.util.List;

/** The turn is over. */
public record Ended() implements Turn {
  @Override
  public Ended next(TurnPorts ports) {
    return this;
  }

  @Override
  public Ended then() {
    return this;
  }

  @Override
  public List<Claim> claims() {
    return List.of();
  }

  @Override
  public Ended end() {
    return this;
  }
}
