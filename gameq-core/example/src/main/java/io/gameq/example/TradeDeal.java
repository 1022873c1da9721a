package io.gameq.example;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;

/** A trade between two players of this node: all of it happens, or nothing. */
final class TradeDeal {
  private final GameQueue queue;

  TradeDeal(GameQueue queue) {
    this.queue = queue;
  }

  /** Sells what is in a slot; the buyer gets it into {@code toSlot}. */
  CommitReceipt sell(OnlinePlayer seller, int slot, OnlinePlayer buyer, int toSlot, long price) {
    Rows.Item sold = seller.item(slot).orElseThrow(() -> new IllegalStateException("empty slot"));
    if (buyer.row().gold() < price) {
      throw new IllegalStateException("not enough gold");
    }
    Rows.Item bought = new Rows.Item(buyer.row().playerId(), toSlot, sold.itemId(), sold.count());
    Rows.Player richer = seller.row().plus(price);
    Rows.Player poorer = buyer.row().plus(-price);
    // page: trade
    CommitReceipt receipt =
        queue.transact(
            seller.session(),
            buyer.session(),
            trade -> {
              trade.delete(Rows.Item.class, sold.playerId(), sold.slot());
              trade.put(richer);
              trade.put(bought);
              trade.put(poorer);
            });
    // page: end
    seller.lost(slot);
    seller.become(richer);
    buyer.become(bought);
    buyer.become(poorer);
    return receipt;
  }
}
