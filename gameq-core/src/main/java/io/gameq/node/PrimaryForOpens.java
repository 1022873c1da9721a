package io.gameq.node;

import io.gameq.commit.CommitSender;
import io.gameq.node.ConnectionAfterHealing.Healed;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.OpenOwners;
import io.gameq.rows.EncodedRow;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The Redis primary that opens of this node go over. Thread-safe. */
record PrimaryForOpens(
    ConnectionAfterHealing connection,
    ControlConnection control,
    OpenOwners owners,
    CommitSender sender) {
  /** For one open; {@code isAwaited} is false once nobody waits for it any more. */
  OpeningPorts.ToRedis awaitedBy(BooleanSupplier isAwaited) {
    return new OpeningPorts.ToRedis() {
      @Override
      public Healed connect(SlotKeys slot, OwnerId owner, Consumer<List<EncodedRow>> look) {
        return connection.getAndLook(slot, owner, isAwaited, look);
      }

      @Override
      public OpenOwners.@Nullable Holder holder(
          SlotKeys slot, OwnerId owner, CountingSessions durable) {
        return owners.holder(control, slot, owner, durable);
      }

      @Override
      public void ask(OwnerId owner, SessionId session) {
        owners.ask(control, owner, session);
      }

      @Override
      public void leave(long term) {
        sender.leave(term);
      }
    };
  }
}
