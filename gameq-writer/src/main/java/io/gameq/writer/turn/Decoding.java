package io.gameq.writer.turn;

import io.gameq.MySqlException;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.writer.turn.AfterFlush.FlushKind;
import io.gameq.writer.turn.AfterFlush.Flushing;
import java.util.List;
import java.util.stream.Stream;

/**
 * About to decode claims; asks MySQL for the catalogue where the one at hand does not fit.
 *
 * @param triesLeft of flushing them in this turn, this one included
 */
public record Decoding(List<Claim> batch, FlushKind kind, int triesLeft, Turn then)
    implements Turn {
  /** Of a batch in one turn: each may have waited for a lock. */
  private static final int MOST_TRIES = 3;

  /** To be flushed in one transaction. */
  public static Decoding together(List<Claim> batch, Turn then) {
    return new Decoding(batch, FlushKind.TOGETHER, MOST_TRIES, then);
  }

  /** To be flushed apart from others. */
  public static Decoding apart(Claim claim, Turn then) {
    return new Decoding(List.of(claim), FlushKind.APART, MOST_TRIES, then);
  }

  @Override
  public Turn next(TurnPorts ports) {
    try {
      return new Flushing(
          new ClaimedRows(ports.context().mysql().decoder().decode(batch)), kind, triesLeft, then);
    } catch (MySqlException e) {
      return GivingBack.forOutage(ports, batch, e.getMessage(), then);
    }
  }

  @Override
  public List<Claim> claims() {
    return Stream.concat(batch.stream(), then.claims().stream()).toList();
  }
}
