package io.gameq.writer.turn;

import io.gameq.MySqlException;
import io.gameq.redis.script.Claim;
import java.util.List;
import java.util.stream.Stream;

/**
 * About to read the catalogue again, since an owner failed alone: a column may have come or gone.
 */
public record RereadingCatalog(Claim claim, String reason, Turn then) implements Turn {
  @Override
  public Turn next(TurnPorts ports) {
    try {
      boolean unused = ports.context().mysql().decoder().reloadCatalog();
      return GivingBack.untilRetry(ports, claim, reason, then);
    } catch (MySqlException e) {
      return GivingBack.forOutage(ports, List.of(claim), e.getMessage(), then);
    }
  }

  @Override
  public List<Claim> claims() {
    return Stream.concat(Stream.of(claim), then.claims().stream()).toList();
  }
}
