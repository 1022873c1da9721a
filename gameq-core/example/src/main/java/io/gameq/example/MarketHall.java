package io.gameq.example;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;

/**
 * A market: who sells may be offline when somebody buys. Waits for servers: not for the thread of
 * the game loop.
 */
final class MarketHall {
  private final GameQueue queue;
  private final SharedOwners owners;
  private final Payouts payouts;

  MarketHall(GameQueue queue, Payouts payouts) {
    this.queue = queue;
    this.owners = new SharedOwners(queue);
    this.payouts = payouts;
  }

  /** Puts what is in a slot up for sale; returns the number of the listing. */
  long list(OnlinePlayer seller, int slot, long price) {
    Rows.Item item = seller.item(slot).orElseThrow(() -> new IllegalStateException("empty slot"));
    long id = queue.ids("listing").next();
    owners.change(
        "listing:" + id,
        (listing, changes) -> {
          changes.put(new Rows.Listing(id, item.playerId(), item.itemId(), item.count(), price));
          changes.delete(Rows.Item.class, item.playerId(), item.slot());
        },
        seller,
        seller.row());
    seller.lost(slot);
    return id;
  }

  /**
   * Buys it into a slot, and pays the seller.
   *
   * @throws IllegalStateException when it is sold, or its price is another one
   */
  void buy(OnlinePlayer buyer, long listingId, long price, int toSlot) {
    owners.change(
        "listing:" + listingId,
        (listing, changes) -> {
          Rows.Listing sold = onSale(listing, price);
          changes.delete(Rows.Listing.class, listingId);
          changes.put(new Rows.Item(buyer.row().playerId(), toSlot, sold.itemId(), sold.count()));
          changes.publish(
              payouts.topic(), Payouts.of(sold.sellerId(), "sold/" + listingId, price, "sold"));
        },
        buyer,
        buyer.row().plus(-price));
  }

  private static Rows.Listing onSale(OwnerSession listing, long price) {
    return listing.rows(Rows.Listing.class).stream()
        .filter(row -> row.price() == price)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("it is sold"));
  }
}
