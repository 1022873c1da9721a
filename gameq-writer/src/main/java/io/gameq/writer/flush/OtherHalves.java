package io.gameq.writer.flush;

import io.gameq.GameQueueException;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.Slots;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.LookupScript.Looked;
import io.gameq.rows.RowKey;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether the other half of a handover may still come: it waits in Redis, or the session
 * that has it was forgotten by Redis in a failover, and neither its node nor gameq-recovery has put
 * back yet what it had. A session that opened without the half brings none. One thread.
 */
final class OtherHalves implements FlushTransaction.Halves {
  private final ControlConnection redis;
  private final Slots slots;
  private final OwnerTable sessions;

  OtherHalves(ControlConnection redis, Slots slots, OwnerTable sessions) {
    this.redis = redis;
    this.slots = slots;
    this.sessions = sessions;
  }

  @Override
  public boolean mayCome(RowKey row, Set<OwnerId> from) {
    try {
      Map<OwnerId, CountingSessions> durable = sessions.current(from);
      return from.stream().anyMatch(owner -> mayCome(row, owner, durable.get(owner)));
    } catch (GameQueueException e) { // who cannot be asked may have it
      return true;
    }
  }

  private boolean mayCome(RowKey row, OwnerId from, @Nullable CountingSessions durable) {
    Looked looked = LookupScript.look(redis.get(), slots.of(from), from, List.of(row.text()));
    return !looked.versions().isEmpty() || !looked.isAllOfOwner(durable);
  }
}
