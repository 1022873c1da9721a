package io.gameq.writer.turn;

import io.gameq.MySqlException;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.redis.script.Claim;
import io.gameq.rows.HandledRow;
import java.util.List;
import java.util.stream.Stream;

/** About to ask MySQL which rows of a claim that nobody can flush it lacks: dead letters to be. */
public record SettingAside(Claim claim, String reason, Turn then) implements Turn {
  @Override
  public Turn next(TurnPorts ports) {
    TurnContext.Tables mysql = ports.context().mysql();
    try {
      List<Refused> rows =
          mysql.decoder().notInMySql(claim, mysql.reader()).stream()
              .filter(row -> !HandledRow.is(row.key())) // it decides whether the others count
              .map(row -> RowDecoder.setAside(claim, row, reason))
              .toList();
      RowDecoder.Decoded decoded =
          new RowDecoder.Decoded(
              claim,
              mysql.decoder().handled(claim.owner(), claim.rows()),
              rows,
              List.of(),
              RowDecoder.Paused.NONE);
      return new Flushing(new ClaimedRows(List.of(decoded)), FlushKind.SETTING_ASIDE, 1, then);
    } catch (MySqlException e) {
      return GivingBack.forOutage(ports, List.of(claim), e.getMessage(), then);
    }
  }

  @Override
  public List<Claim> claims() {
    return Stream.concat(Stream.of(claim), then.claims().stream()).toList();
  }
}
