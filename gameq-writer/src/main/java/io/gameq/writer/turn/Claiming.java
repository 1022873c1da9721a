package io.gameq.writer.turn;

import io.gameq.redis.script.Claim;
import io.gameq.redis.script.ClaimScript;
import java.util.ArrayList;
import java.util.List;

/** About to claim what is due. */
public record Claiming() implements Turn {
  /**
   * Rows whose lease ran out so often, though they were taken alone since the second, are set
   * aside.
   */
  private static final int MOST_LAPSES = 5;

  @Override
  public Turn next(TurnPorts ports) {
    WriterOptions options = ports.context().options();
    ClaimScript.Batch batch =
        new ClaimScript(options.name(), options.bounds()).call(ports.claimsFrom(), ports.slot());
    batch.stale().forEach(ports.context().reports()::stale);
    batch.broken().forEach(ports.context().reports()::broken);
    Turn next = then(batch.waitMillis());
    for (ClaimScript.Rows unowned : batch.unowned()) {
      next = new AskingForUnowned(unowned, next);
    }
    return claimed(ports, batch.claims(), next);
  }

  /** An owner that is to be left alone for so long. */
  private record Paused(Claim claim, long millis) {}

  /** Leaves apart who may hold up the others. */
  private static Turn claimed(TurnPorts ports, List<Claim> claims, Turn then) {
    HeldUpOwners owners = ports.context().holdUps().owners();
    List<Claim> suspects = new ArrayList<>();
    List<Claim> rest = new ArrayList<>();
    List<Paused> paused = new ArrayList<>();
    for (Claim claim : claims) {
      long millis = owners.pausedMillis(claim.owner());
      if (millis > 0) { // a commit since then has made him due
        paused.add(new Paused(claim, millis));
      } else {
        (owners.contains(claim.owner()) ? suspects : rest).add(claim);
      }
    }
    Turn next = rest.isEmpty() ? then : flushed(rest, then);
    if (!suspects.isEmpty() && !ports.takeSuspects(suspects)) {
      next = GivingBack.forWantOfRoom(suspects, next);
    }
    for (Paused of : paused) {
      next = new GivingBack(List.of(of.claim()), of.millis(), false, next);
    }
    return next;
  }

  /** Rows that keep killing their writers come alone, see claim.lua. */
  private static Turn flushed(List<Claim> claims, Turn then) {
    Claim first = claims.get(0);
    return claims.size() == 1 && first.lapses() >= MOST_LAPSES
        ? new SettingAside(
            first,
            "its lease ran out %d times in a row: it may kill its writers"
                .formatted(first.lapses()),
            then)
        : Decoding.together(claims, then);
  }

  @Override
  public Turn then() {
    return then(-1);
  }

  private static Turn then(long waitMillis) {
    return new Ended(waitMillis);
  }
}
