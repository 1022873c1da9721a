package io.gameq.example;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** One node of the game. Thread-safe; one thread at a time acts for a player. */
public final class ExampleGame implements AutoCloseable {
  private final GameQueue queue;
  private final TradeDeal trades;
  private final Mailbox mail;
  private final GuildHall guilds;
  private final Map<Long, OnlinePlayer> online = new ConcurrentHashMap<>();

  /** On a queue that whoever opened it closes, after this game. */
  public ExampleGame(GameQueue queue) {
    this.queue = queue;
    this.trades = new TradeDeal(queue);
    this.mail = new Mailbox(queue);
    this.guilds = new GuildHall(queue);
  }

  /** Logs a player in, who may be logged in on another node: this one has the player then. */
  public OnlinePlayer login(long playerId, String name) {
    OnlinePlayer player = new OnlinePlayer(queue.open("player:" + playerId), playerId, name);
    online.put(playerId, player);
    // Taken over, or a commit failed, and memory may be ahead of the rows: who logs in again.
    var unused = player.session().lost().thenRun(() -> logout(player));
    return player;
  }

  /** Play: an item and some gold are found. */
  public CommitReceipt find(OnlinePlayer player, int slot, int itemId, long gold) {
    return player.find(slot, itemId, gold);
  }

  /** Sells an item to another player of this node. */
  public CommitReceipt sell(OnlinePlayer from, int slot, OnlinePlayer to, int toSlot, long price) {
    return trades.sell(from, slot, to, toSlot, price);
  }

  /** Sends a letter for a piece of gold. */
  public CommitReceipt send(OnlinePlayer from, long toPlayerId, String text) {
    return mail.send(from, toPlayerId, text, 1);
  }

  /** Gives gold to a guild, which founds it or joins it; waits until every node would see it. */
  public void give(OnlinePlayer from, long guildId, String guildName, long gold) {
    guilds.give(from, guildId, guildName, gold);
  }

  /** The members of a guild. */
  public List<Rows.GuildMember> membersOf(long guildId) {
    return guilds.members(guildId);
  }

  /** Logs a player out; whatever was committed is on its way. */
  public void logout(OnlinePlayer player) {
    online.remove(player.row().playerId(), player);
    try {
      player.session().close();
    } catch (GameQueueException e) {
      // Redis is away: what was journaled is sent when it is back, and other players log out too.
      System.err.println("logout of player " + player.row().playerId() + ": " + e.getMessage());
    }
  }

  /** Logs out everybody who is still there. */
  @Override
  public void close() {
    online.values().forEach(this::logout);
  }
}
