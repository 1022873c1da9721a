package io.gameq.example;

import io.gameq.CommitReceipt;
import io.gameq.OwnerSession;
import io.gameq.example.Payouts.Payout;
import io.gameq.topic.Topic;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    mailAtLogin.forEach(inbox);
    session.onSent(sent -> sent.rows(Rows.Mail.class).forEach(inbox));
  }

  /**
   * Takes what is paid out to this player, whoever does it, on whichever node.
   *
   * @param thread acts for this player, one task after another
   */
  void onPayouts(Topic<Payout> payouts, Executor thread) {
    session.handle(
        payouts,
        thread,
        (player, payout, changes) -> {
          Rows.Player richer = row.plus(payout.payload().gold());
          changes.put(richer); // one commit with the acknowledgement: once
          become(richer);
        });
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
