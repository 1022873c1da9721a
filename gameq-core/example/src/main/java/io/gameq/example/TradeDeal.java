package io.gameq.example;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;

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
    CommitReceipt receipt;
    try {
      seller.session().delete(Rows.Item.class, sold.playerId(), sold.slot());
      seller.session().put(richer);
      buyer.session().put(bought);
      buyer.session().put(poorer);
      receipt = queue.commit(seller.session(), buyer.session()); // one atomic change of two owners
    } catch (GameQueueException e) {
      seller.session().rollback(); // of a trade no half is committed later
      buyer.session().rollback();
      throw e;
    }
    seller.lost(slot);
    seller.become(richer);
    buyer.become(bought);
    buyer.become(poorer);
    return receipt;
  }
}
