package io.gameq.example;

import io.gameq.CommitReceipt;
import io.gameq.OwnerSession;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * A player who is logged in here: what the game knows in memory, and the right to write it. One
 * thread at a time acts for a player.
 */
public final class OnlinePlayer {
  private final OwnerSession session;
  private final Map<Integer, Rows.Item> items = new TreeMap<>();
  private final List<Rows.Mail> mailAtLogin;
  private final List<Rows.Gift> giftsAtLogin;
  private final Set<Long> taken = new HashSet<>();
  private Rows.Player row;

  /** What Redis and MySQL have of the player; a new one begins with nothing. */
  OnlinePlayer(OwnerSession session, long playerId, String name) {
    this.session = session;
    // page: login
    List<Rows.Player> known = session.rows(Rows.Player.class);
    if (known.isEmpty()) {
      row = new Rows.Player(playerId, name, 0);
      session.put(row);
      session.commit();
    } else {
      row = known.get(0);
    }
    session.rows(Rows.Item.class).forEach(item -> items.put(item.slot(), item));
    mailAtLogin = session.rows(Rows.Mail.class);
    giftsAtLogin = session.rows(Rows.Gift.class);
    session.forgetLoaded(); // from here on this object is the player
    // page: end
  }

  /** Play: an item and some gold are found. Returns at once; nothing waits for a server. */
  public CommitReceipt find(int slot, int itemId, long gold) {
    // page: play
    Rows.Item found = new Rows.Item(row.playerId(), slot, itemId, 1);
    Rows.Player richer = row.plus(gold);
    session.put(found);
    session.put(richer);
    CommitReceipt receipt = session.commit(); // one atomic change
    become(richer);
    become(found);
    // page: end
    return receipt;
  }

  /** Shows the letters that are there, and from now on each that comes, from whichever node. */
  public void onMail(Consumer<Rows.Mail> inbox) {
    // page: inbox
    mailAtLogin.forEach(inbox);
    session.onSent(sent -> sent.rows(Rows.Mail.class).forEach(inbox));
    // page: end
  }

  /**
   * Takes the gifts that are there, and from now on each that comes, from whichever node.
   *
   * @param thread acts for this player, one task after another
   */
  public void onGifts(Executor thread) {
    // page: gifts
    thread.execute(() -> take(giftsAtLogin));
    session.onSent(sent -> thread.execute(() -> take(sent.rows(Rows.Gift.class))));
    // page: end
  }

  private void take(List<Rows.Gift> gifts) {
    // page: take
    for (Rows.Gift gift : gifts) {
      if (taken.add(gift.giftId())) { // after a failover one may be told again
        Rows.Player richer = row.plus(gift.gold());
        session.put(richer);
        session.delete(Rows.Gift.class, gift.playerId(), gift.giftId());
        session.commit(); // the gold is there, and the gift gone, or neither
        become(richer);
      }
    }
    // page: end
  }

  /** The row of this player. */
  public Rows.Player row() {
    return row;
  }

  /** What is in a slot. */
  public Optional<Rows.Item> item(int slot) {
    return Optional.ofNullable(items.get(slot));
  }

  /** Whose changes are staged in it, and committed alone or together with others. */
  OwnerSession session() {
    return session;
  }

  /** To be called once the change is committed. */
  void become(Rows.Player changed) {
    row = changed;
  }

  /** To be called once the change is committed. */
  void become(Rows.Item changed) {
    items.put(changed.slot(), changed);
  }

  /** To be called once the change is committed. */
  void lost(int slot) {
    items.remove(slot);
  }
}
