package io.gameq.writer.turn;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.redis.script.Claim;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Share;
import io.gameq.redis.script.LuaScript;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * About to claim what is due in some slots, to be flushed together.
 *
 * @param isUrgent whether only those are claimed who are due before their time
 */
public record Claiming(List<SlotShare> shares, boolean isUrgent) implements Turn {
  /**
   * Rows whose lease ran out so often, though they were taken alone since the second, are set
   * aside.
   */
  private static final int MOST_LAPSES = 5;

  /** Rows whose lease ran out so often are flushed alone, as claim.lua takes them. */
  private static final int LAPSES_OF_SUSPECTS = 2;

  /** Claims whoever is due. */
  public Claiming(List<SlotShare> shares) {
    this(shares, false);
  }

  /**
   * Claims in one round trip. A slot in which that fails does not disturb the others.
   *
   * @throws RedisUnavailableException when Redis does not answer, and has not for any slot so far
   */
  @Override
  public Turn next(TurnPorts ports) {
    List<SlotShare> parts = shares.stream().flatMap(SlotShare::parts).toList();
    WriterOptions options = ports.context().options();
    List<LuaScript.Answer<ClaimScript.Batch>> taken =
        new ClaimScript(options.name(), options.bounds())
            .callEach(
                ports.claimsFrom(),
                parts.stream()
                    .map(
                        part ->
                            new Share(ports.slots().get(part.slot()), part.owners(), part.rows()))
                    .toList(),
                isUrgent);
    List<Claim> claims = new ArrayList<>();
    Turn next = then();
    for (int i = 0; i < parts.size(); i++) {
      ClaimScript.Batch batch = taken.get(i).reply();
      if (batch == null) {
        failed(ports, parts.get(i), Objects.requireNonNull(taken.get(i).error()), claims);
      } else {
        ports.claimed(parts.get(i).slot(), batch);
        batch.broken().forEach(ports.context().reports()::broken);
        for (ClaimScript.Rows stale : batch.stale()) {
          next = new Parking(stale, next);
        }
        for (ClaimScript.Rows unowned : batch.unowned()) {
          next = new AskingForUnowned(unowned, next);
        }
        claims.addAll(batch.claims());
      }
    }
    return claimed(ports, claims, next);
  }

  /** Redis may be away for all of them, but what is claimed already is flushed. */
  private static void failed(
      TurnPorts ports, SlotShare part, GameQueueException error, List<Claim> claims) {
    if (error instanceof RedisUnavailableException && claims.isEmpty()) {
      throw error;
    }
    ports.failed(part.slot(), error);
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

  /**
   * Rows that may kill their writers come after the others, who are acknowledged by then, and one
   * at a time.
   */
  private static Turn flushed(List<Claim> claims, Turn then) {
    List<Claim> others = new ArrayList<>(claims);
    List<Claim> suspects = new ArrayList<>();
    others.removeIf(claim -> claim.lapses() >= LAPSES_OF_SUSPECTS && suspects.add(claim));
    Turn next = suspects.isEmpty() ? then : flushedAlone(suspects.get(0), then);
    if (!others.isEmpty()) {
      next = Decoding.together(others, next);
    }
    return suspects.size() > 1
        ? GivingBack.forNextTurn(suspects.subList(1, suspects.size()), next)
        : next;
  }

  private static Turn flushedAlone(Claim claim, Turn then) {
    return claim.lapses() >= MOST_LAPSES
        ? new SettingAside(
            claim,
            "its lease ran out %s times in a row: it may kill its writers"
                .formatted(claim.lapses()),
            then)
        : Decoding.together(List.of(claim), then);
  }

  @Override
  public Turn then() {
    return new Ended();
  }
}
