package io.gameq.writer.turn;

import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.redis.script.Claim;
import java.util.List;
import java.util.stream.Stream;

/**
 * About to flush claims, in one transaction.
 *
 * @param triesLeft of flushing them in this turn, this one included
 */
public record Flushing(ClaimedRows rows, FlushKind kind, int triesLeft, Turn then) implements Turn {
  @Override
  public Turn next(TurnPorts ports) {
    return new AfterFlush(ports, this).by(flush(ports));
  }

  private FlushTransaction.Outcome flush(TurnPorts ports) {
    FlushTransaction flush = ports.context().mysql().flush();
    if (kind == FlushKind.APART) { // he is suspected until he is written
      ports.context().holdUps().owners().add(rows.claims().get(0).owner());
      return flush.flushApart(ports.term(), owners(ports).get(0), ports.halves());
    }
    long began = System.nanoTime();
    FlushTransaction.Outcome outcome = flush.flush(ports.term(), owners(ports), ports.halves());
    if (outcome instanceof FlushTransaction.Committed || outcome instanceof FlushTransaction.Slow) {
      ports.flushed(began, rows.claims().size(), rows.count());
    }
    return outcome;
  }

  private List<FlushTransaction.OwnerRows> owners(TurnPorts ports) {
    return ports.context().holdUps().holdSomeBack() ? rows.ownersWithPatience() : rows.owners();
  }

  @Override
  public List<Claim> claims() {
    return Stream.concat(rows.claims().stream(), then.claims().stream()).toList();
  }
}
