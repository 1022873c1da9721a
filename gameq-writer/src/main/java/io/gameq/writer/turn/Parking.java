package io.gameq.writer.turn;

import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.Publish;
import io.gameq.mysql.ErrorKind.RowChange;
import io.gameq.redis.ControlConnection.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.MessagesScript;
import io.gameq.rows.HandledRow;
import io.gameq.writer.redis.StaleRows;
import io.gameq.writer.turn.AfterFlush.TurnContext;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * About to park rows of a session that lost its owner, which nobody flushes any more. Messages that
 * were handled with them were handled in vain: those of which no other handler's rows count are
 * given back before, so that a writer that dies here leaves another one to do it again.
 */
public record Parking(ClaimScript.Rows rows, Turn then) implements Turn {
  @Override
  public Turn next(TurnPorts ports) {
    RedisConnection redis = ports.redis();
    SlotKeys slot = ports.slots().of(rows.owner());
    TurnContext.Tables mysql = ports.context().mysql();
    StaleRows.Handled inRedis = StaleRows.handled(redis, ports.slots(), rows);
    if (inRedis.mayComeBack()) {
      return then; // it is due again in a while
    }
    List<RowChange> handled = mysql.decoder().handled(rows.owner(), inRedis.rows());
    List<Publish> messages =
        handled.isEmpty() ? List.of() : messages(mysql.reader().handledByNobody(handled));
    if (!messages.isEmpty()) {
      MessagesScript.giveBack(redis, ports.slots().all(), messages);
      ports.context().reports().gaveBack(rows, messages);
    }
    if (StaleRows.park(redis, slot, rows)) {
      ports.context().reports().stale(rows);
    }
    return then;
  }

  /** Each once, though it may have had two handlers. */
  private static List<Publish> messages(List<RowChange> handled) {
    Map<String, Publish> messages = new LinkedHashMap<>();
    for (RowChange row : handled) {
      HandledRow.Message of = HandledRow.carried(row.key(), row.encoded());
      if (of != null) {
        messages.put(
            HandledRow.handling(row.key().text()),
            new Publish(
                new MessageId(of.topic(), of.id()),
                of.slot(),
                of.dueMillis(),
                false,
                0,
                of.value()));
      }
    }
    return List.copyOf(messages.values());
  }
}
