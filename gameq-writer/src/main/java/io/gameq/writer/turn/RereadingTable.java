package io.gameq.writer.turn;

import io.gameq.MySqlException;
import io.gameq.redis.script.Claim;
import io.gameq.rows.Table;
import java.util.List;

/**
 * About to look whether a table that was refused was altered since rows were decoded by it; if not,
 * it is parked.
 *
 * @param then the next try
 */
public record RereadingTable(List<Claim> batch, Table table, String reason, Turn then)
    implements Turn {
  @Override
  public Turn next(TurnPorts ports) {
    try {
      if (!ports.context().mysql().decoder().isAltered(table)) {
        ports.context().holdUps().tables().park(table.name(), reason);
      }
      return then;
    } catch (MySqlException e) {
      return GivingBack.forOutage(ports, batch, e.getMessage(), then.then());
    }
  }
}
