package io.gameq.writer.turn;

import io.gameq.mysql.flush.FlushTransaction.Written;
import io.gameq.redis.script.Claim;
import io.gameq.redis.script.ClaimScript;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** About to acknowledge what a flush has written. */
public record Acknowledging(ClaimedRows rows, List<Written> written, Turn then) implements Turn {
  @Override
  public Turn next(TurnPorts ports) {
    TurnContext context = ports.context();
    ClaimScript.ack(
        ports.redis(),
        ports.slots(),
        context.options().namespace(),
        flushed(context.holdUps().pauses().get().tables()));
    context.reports().flushed(written);
    ParkedTables parked = context.holdUps().tables();
    if (!parked.isEmpty()) {
      parked.passed(rows.tables(written));
    }
    written.stream()
        .filter(of -> of.kept().isEmpty())
        .forEach(of -> context.holdUps().owners().remove(of.of().owner()));
    return then;
  }

  /** What ack.lua is told where nothing is paused. */
  public List<ClaimScript.Flushed> flushed() {
    return flushed(Set.of());
  }

  private List<ClaimScript.Flushed> flushed(Set<String> paused) {
    return written.stream().map(of -> rows.flushed(of, paused)).toList();
  }

  @Override
  public List<Claim> claims() {
    return Stream.concat(written.stream().map(of -> rows.claim(of.of())), then.claims().stream())
        .toList();
  }
}
