package io.gameq.durability;

import io.gameq.CommitReceipt;
import io.gameq.CommitUnknownException;
import io.gameq.Urgency;
import io.gameq.change.ChangedRow.Trade;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.change.Commit.SlotMessages;
import io.gameq.durability.DurableTracker.DurableFutures.Share;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Tells the sessions and the game what became of a commit. */
public final class TrackedCommit extends Commit {
  private final LazyFuture journaled = new LazyFuture();
  private final LazyFuture queued = new LazyFuture();
  private final Durability durability;
  private final @Nullable Trade trade;
  private final Urgency urgency;
  private Consumer<RuntimeException> whenFailed = reason -> {};

  /** A commit of rows alone. */
  public TrackedCommit(
      List<CommitPart> parts,
      List<DurableTracker> trackers,
      @Nullable Trade trade,
      Urgency urgency) {
    this(parts, List.of(), trackers, trade, urgency);
  }

  /**
   * A commit.
   *
   * @param parts none for one of messages alone, which no session is told of
   * @param messages by slots
   * @param trackers one for each part
   */
  public TrackedCommit(
      List<CommitPart> parts,
      List<SlotMessages> messages,
      List<DurableTracker> trackers,
      @Nullable Trade trade,
      Urgency urgency) {
    super(parts, messages, trade);
    this.trade = trade;
    this.urgency = urgency;
    durability = new Durability(trackers, new Share[trackers.size()]);
  }

  /** Has somebody told that it failed, before the game is; to be set before it is sent. */
  public void whenFailed(Consumer<RuntimeException> tell) {
    whenFailed = tell;
  }

  @Override
  public boolean isUrgent() {
    return urgency == Urgency.URGENT;
  }

  @Override
  public void journaled() {
    journaled.arrived();
  }

  @Override
  public void queued() {
    for (int i = 0; i < durability.trackers.size(); i++) {
      durability.shares[i] = durability.trackers.get(i).queued(this);
    }
    queued.arrived();
  }

  /** What was received in it was not. */
  public void tookNoPlace() {
    if (trade != null) {
      trade.fail();
    }
  }

  @Override
  public void failed(RuntimeException reason) {
    if (!(reason instanceof CommitUnknownException)) {
      tookNoPlace();
    }
    durability.trackers.forEach(tracker -> tracker.failed(this));
    whenFailed.accept(reason);
    journaled.failed(reason);
    queued.failed(reason);
  }

  /** Whether Redis has it; not for the game: it ends on the sender's thread. */
  public CompletableFuture<Void> outcome() {
    return queued.future();
  }

  /** What the game gets; does not hold the rows. */
  public CommitReceipt receipt(Callbacks callbacks) {
    return new TrackedReceipt(journaled, queued, durability::future, callbacks);
  }

  /**
   * What must be in MySQL for a commit to be durable: its rows, so that one without any is durable
   * once it is queued. Apart from the commit, so that a receipt does not hold its rows.
   */
  private record Durability(List<DurableTracker> trackers, Share[] shares) {
    CompletableFuture<Void> future() {
      CompletableFuture<?>[] all = new CompletableFuture<?>[shares.length];
      for (int i = 0; i < all.length; i++) {
        all[i] =
            shares[i].keys().isEmpty()
                ? CompletableFuture.completedFuture(null)
                : trackers.get(i).whenDurable(shares[i]);
      }
      return CompletableFuture.allOf(all);
    }
  }
}
