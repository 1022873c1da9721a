package io.gameq.writer.explorer;

import io.gameq.node.OpenState;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.NodeSigns.OpenOwners;
import io.gameq.rows.EncodedRow;
import io.gameq.writer.explorer.NodeMemory.Attempt;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What a step of a node's open works with, and what it does to the node. Not thread-safe. */
final class NodePorts extends OpenState.Node {
  private final NodeOpening opening;
  private final Servers world;
  private final NodeMemory me;
  private final Attempt attempt;
  private NodeWal wal;
  private boolean hasLeft;

  NodePorts(NodeOpening opening, Servers world, NodeMemory me, Attempt attempt) {
    super(opening.node().name(), new SlotKeys[] {world.slot}, 0, world.sessions, world.views);
    this.opening = opening;
    this.world = world;
    this.me = me;
    this.attempt = attempt;
    this.wal = me.wal();
  }

  @Override
  protected String nonce() {
    return opening.nonce(me.attempts());
  }

  @Override
  protected OpenState.Healed connect(
      SlotKeys slot, OwnerId owner, Consumer<List<EncodedRow>> look) {
    look.accept(LookupScript.unflushed(world.redis, slot, owner));
    return opening.healed(world, attempt.by());
  }

  @Override
  protected OpenOwners.@Nullable Holder holder(
      SlotKeys slot, OwnerId owner, CountingSessions durable) {
    return null;
  }

  @Override
  protected void tellHolder(OwnerId owner, SessionId session, boolean asks) {}

  @Override
  protected void leave(long term) {
    hasLeft = true;
  }

  @Override
  protected List<Long> append(SessionRef session, List<EncodedRow> rows) {
    wal =
        wal.appended(
            NodeWal.ADOPTED,
            List.of(NodeWal.part(session.owner().encoded(), session.id().text(), rows)));
    return Collections.nCopies(rows.size(), wal.newestSequence());
  }

  @Override
  protected void drop(SessionRef session) {}

  /** The node's WAL after the step. */
  NodeWal wal() {
    return wal;
  }

  /** Whether the primary was found to count no more. */
  boolean hasLeft() {
    return hasLeft;
  }
}
