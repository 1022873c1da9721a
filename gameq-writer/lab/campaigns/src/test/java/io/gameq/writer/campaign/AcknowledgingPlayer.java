package io.gameq.writer.campaign;

import io.gameq.ChangeSet;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.node.NodeAccess;
import io.gameq.topic.Delivery;
import io.gameq.writer.campaign.CampaignTables.Deed;
import io.gameq.writer.campaign.messages.Errand;
import io.gameq.writer.campaign.messages.ErrandHandler;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Puts a row that no other commit puts, together with the acknowledgement of a message: one for
 * each run of a handler, so that two that took effect are two rows. Thread-safe.
 */
final class AcknowledgingPlayer implements ErrandHandler.RowWork {
  private final GameQueue queue;
  private final Ledger ledger;
  private final int owner;
  private final AtomicReference<@Nullable OwnerSession> session = new AtomicReference<>();

  /** Under an owner whom nobody else plays. */
  AcknowledgingPlayer(GameQueue queue, Ledger ledger, int owner) {
    this.queue = queue;
    this.ledger = ledger;
    this.owner = owner;
  }

  @Override
  public synchronized void ackWith(Delivery<Errand> delivery, Consumer<String> before) {
    OwnerSession of = session.get();
    if (of == null) {
      of = queue.open(CampaignTables.player(owner));
      session.set(of);
    }
    commit(of, delivery, before);
  }

  @Override
  public synchronized String put(OwnerSession of, ChangeSet changes) {
    String id = ledger.nextId();
    long deed = ledger.nextRowId();
    long player = Long.parseLong(of.owner().substring(of.owner().indexOf(':') + 1));
    ledger.invoked(
        id,
        List.of(new Attempt.Part(of.owner(), NodeAccess.epoch(of))),
        List.of(new Change(CampaignTables.deed(deed), of.owner(), true)));
    LateColumns.put(queue, changes, new Deed(deed, player, id));
    return id;
  }

  private void commit(OwnerSession of, Delivery<Errand> delivery, Consumer<String> before) {
    String id = ledger.nextId();
    long deed = ledger.nextRowId();
    LateColumns.put(queue, of, new Deed(deed, owner, id));
    before.accept(id);
    ledger.commit(
        id,
        List.of(new Attempt.Part(of.owner(), NodeAccess.epoch(of))),
        List.of(new Change(CampaignTables.deed(deed), of.owner(), true)),
        () -> delivery.ackWith(of),
        error -> {
          if (error != null) {
            session.compareAndSet(of, null); // open it anew: its memory would be ahead of the rows
          }
        });
  }
}
