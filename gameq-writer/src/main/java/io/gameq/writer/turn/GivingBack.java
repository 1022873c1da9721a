package io.gameq.writer.turn;

import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Claim;
import java.util.List;
import java.util.stream.Stream;

/**
 * About to give claims back unflushed.
 *
 * @param delayMillis until their owners are due again
 * @param countsAsAttempt false for what is not the rows' fault
 */
public record GivingBack(List<Claim> batch, long delayMillis, boolean countsAsAttempt, Turn then)
    implements Turn {
  /**
   * An owner that a newer session took over in mid-flush: its rows are the newer session's by then.
   */
  private static final long NOT_OWNED_DELAY_MILLIS = 1_000;

  /** Rows given back for an outage merge with what comes; the gate says when to claim again. */
  private static final long OUTAGE_DELAY_MILLIS = 1_000;

  /** The slow lane is full: it empties in a moment or is locked, as its suspects are. */
  private static final long FULL_DELAY_MILLIS = 500;

  /** An outage: nothing about the rows. */
  static Turn forOutage(TurnPorts ports, List<Claim> batch, String reason, Turn then) {
    long unused = ports.context().holdUps().mysql().close(reason);
    return batch.isEmpty() ? then : forNextTurn(batch, then);
  }

  /** They were tried in vain often enough for one turn, or are not this primary's any more. */
  static GivingBack forNextTurn(List<Claim> batch, Turn then) {
    return new GivingBack(batch, OUTAGE_DELAY_MILLIS, false, then);
  }

  static GivingBack notOwned(List<Claim> batch, Turn then) {
    return new GivingBack(batch, NOT_OWNED_DELAY_MILLIS, false, then);
  }

  /** The slow lane is full. */
  public static GivingBack forWantOfRoom(List<Claim> batch, Turn then) {
    return new GivingBack(batch, FULL_DELAY_MILLIS, false, then);
  }

  /** Somebody has locked the owner, or a row of his. */
  static GivingBack locked(TurnPorts ports, Claim claim, String reason, Turn then) {
    long delayMillis = ports.context().holdUps().owners().delayMillis(claim.owner());
    ports.context().reports().locked(claim, reason, delayMillis);
    return new GivingBack(List.of(claim), delayMillis, false, then);
  }

  /** A row was refused that may pass later: what it needs may be paused, which is not its fault. */
  static GivingBack untilRetry(TurnPorts ports, Claim claim, String reason, Turn then) {
    if (ports.context().holdUps().holdSomeBack()) {
      ports.context().reports().notYet(claim, reason, ParkedTables.RETRY_MILLIS);
      return new GivingBack(List.of(claim), ParkedTables.RETRY_MILLIS, false, then);
    }
    long delayMillis =
        ports.context().options().retryDelayMillis(claim.attempts(), claim.refusedForMillis());
    ports.context().reports().notYet(claim, reason, delayMillis);
    return new GivingBack(List.of(claim), delayMillis, true, then);
  }

  @Override
  public Turn next(TurnPorts ports) {
    ClaimScript.nack(ports.redis(), ports.slots(), delayMillis, countsAsAttempt, batch);
    ports.context().reports().gaveBack(batch.size());
    return then;
  }

  @Override
  public List<Claim> claims() {
    return Stream.concat(batch.stream(), then.claims().stream()).toList();
  }
}
