package io.gameq.node;

import io.gameq.mysql.tables.OwnerTable;
import io.gameq.node.ConnectionAfterHealing.Healed;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.OpenOwners;
import io.gameq.rows.EncodedRow;
import io.gameq.view.OwnerViews;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What the steps of an {@link Opening} work with. Immutable. */
public record OpeningPorts(
    Here here, OwnerTable owners, OwnerViews views, ToRedis redis, ToWal wal) {
  /**
   * The node that opens.
   *
   * @param nonces a new one for each session
   */
  public record Here(
      String node,
      String walId,
      SlotKeys[] slots,
      long mergeWindowMillis,
      Supplier<String> nonces) {}

  /** The Redis primary, as far as the node's connection to it matters. */
  public interface ToRedis {
    /**
     * The connection for one attempt, once this node has healed there, through which the owner's
     * unflushed rows were looked at; throws when that fails, and what {@code look} throws.
     */
    Healed connect(SlotKeys slot, OwnerId owner, Consumer<List<EncodedRow>> look);

    /** Where the owner is open, here or on a node that is alive or may be; null for nowhere. */
    OpenOwners.@Nullable Holder holder(SlotKeys slot, OwnerId owner, CountingSessions durable);

    /** Asks the node that has the owner open to close it. */
    void ask(OwnerId owner, SessionId session);

    /** The primary of this term was demoted: the node leaves it. */
    void leave(long term);
  }

  /** This node's WAL. */
  public interface ToWal {
    /**
     * Appends rows that a session adopted; returns the sequence of each row's record, which is kept
     * until the session is registered or dropped.
     */
    List<Long> append(SessionRef session, List<EncodedRow> rows);

    /** The session is not opened: what was appended for it is not needed. */
    void drop(SessionRef session);
  }

  SlotKeys slot(OwnerId owner) {
    return here.slots()[owner.slot(here.slots().length)];
  }

  SessionRef session(OwnerId owner, SessionId session) {
    return new SessionRef(owner, session, owner.slot(here.slots().length));
  }
}
