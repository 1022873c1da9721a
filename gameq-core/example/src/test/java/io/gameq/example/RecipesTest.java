package io.gameq.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.test.GameQueueTest;
import io.gameq.test.GameQueueTest.ManagedTable;
import io.gameq.test.GameTime;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * What the page says beyond the day of the example, on two nodes: in memory, or on the servers that
 * {@code gameq.test.servers} names.
 */
@GameQueueTest(
    schema = "game.sql",
    tables = {
      @ManagedTable(name = "player", owner = "player", ownerColumn = "player_id"),
      @ManagedTable(name = "item", owner = "player", ownerColumn = "player_id"),
      @ManagedTable(name = "mail", owner = "player", ownerColumn = "player_id"),
      @ManagedTable(name = "player_name", owner = "name", ownerColumn = "name"),
      @ManagedTable(name = "listing", owner = "listing", ownerColumn = "listing_id")
    })
class RecipesTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  private final GameQueue here;
  private final GameQueue there;
  private final GameTime time;

  RecipesTest(GameQueue here, GameQueue there, GameTime time) {
    this.here = here;
    this.there = there;
    this.time = time;
  }

  private OnlinePlayer login(GameQueue queue, long id, String name) {
    return new OnlinePlayer(queue.open("player:" + id), id, name);
  }

  /** The rows of an owner, once all is in MySQL. */
  private <T extends Record> List<T> rows(String owner, Class<T> type) {
    assertEquals(Set.of(), here.drain(LONG));
    assertEquals(Set.of(), there.drain(LONG));
    return here.read(owner, type);
  }

  @Test
  void aNameIsOnePlayersAndFreeOnceThatOneHasAnother() throws Exception {
    OnlinePlayer anna = login(here, 31, "player-31");
    OnlinePlayer bert = login(there, 32, "player-32");
    NameRegister register = new NameRegister(here);
    NameRegister others = new NameRegister(there);
    CompletableFuture<Boolean> one =
        CompletableFuture.supplyAsync(() -> register.rename(anna, "Blade"));
    boolean other = others.rename(bert, "blade");
    assertTrue(one.get(1, TimeUnit.MINUTES) ^ other, "one of them has it");
    OnlinePlayer loser = other ? anna : bert;
    assertFalse((other ? register : others).rename(loser, "BLADE"));
    assertTrue((other ? others : register).rename(other ? bert : anna, "Rose"));
    assertTrue((other ? register : others).rename(loser, "Blade"));
    long winner = other ? 32 : 31;
    assertEquals("Rose", rows("player:" + winner, Rows.Player.class).get(0).name());
    assertEquals("Blade", rows("player:" + (63 - winner), Rows.Player.class).get(0).name());
    List<Rows.PlayerName> names = rows("name:blade", Rows.PlayerName.class);
    assertEquals(List.of(new Rows.PlayerName("blade", 63 - winner)), names);
    names = rows("name:rose", Rows.PlayerName.class);
    assertEquals(List.of(new Rows.PlayerName("rose", winner)), names);
  }

  @Test
  void whoSellsIsPaidOnceOnlineElsewhereOrOffline() throws Exception {
    Payouts payouts = new Payouts(here);
    Payouts elsewhere = new Payouts(there);
    MarketHall market = new MarketHall(here, payouts);
    ExecutorService thread = Executors.newSingleThreadExecutor();
    OnlinePlayer seller = login(there, 21, "Anna");
    seller.find(1, 7, 10);
    seller.find(2, 8, 0);
    MarketHall sellers = new MarketHall(there, elsewhere);
    long sword = sellers.list(seller, 1, 30);
    long shield = sellers.list(seller, 2, 5);
    OnlinePlayer buyer = login(here, 22, "Bert");
    buyer.find(9, 1, 100);
    seller.onPayouts(elsewhere.topic(), thread);
    market.buy(buyer, sword, 30, 1);
    await(seller, thread, 40);
    seller.session().close();
    market.buy(buyer, shield, 5, 2);
    assertThrows(IllegalStateException.class, () -> market.buy(buyer, shield, 5, 3));
    time.until(() -> here.read("player:21", Rows.Player.class).get(0).gold() == 45);
    OnlinePlayer again = login(here, 21, "Anna");
    again.onPayouts(payouts.topic(), thread);
    elsewhere.give(21, "4711", 1_000).awaitQueued(LONG);
    await(again, thread, 1_045);
    assertEquals(List.of(new Rows.Player(21, "Anna", 1_045)), rows("player:21", Rows.Player.class));
    assertEquals(List.of(new Rows.Player(22, "Bert", 65)), rows("player:22", Rows.Player.class));
    assertEquals(List.of(), rows("listing:" + sword, Rows.Listing.class));
    assertEquals(List.of(), rows("listing:" + shield, Rows.Listing.class));
    assertEquals(
        Set.of(new Rows.Item(22, 1, 7, 1), new Rows.Item(22, 2, 8, 1), new Rows.Item(22, 9, 1, 1)),
        Set.copyOf(rows("player:22", Rows.Item.class)));
    thread.shutdown();
  }

  @Test
  void aTimerFiresOnceForAPlayerWhoIsOnAnotherNode() throws Exception {
    Payouts payouts = new Payouts(here);
    Payouts elsewhere = new Payouts(there);
    ExecutorService thread = Executors.newSingleThreadExecutor();
    OnlinePlayer farmer = login(there, 11, "Cara");
    farmer.find(1, 7, 10);
    farmer.onPayouts(elsewhere.topic(), thread);
    elsewhere.sow(farmer, 3, 4, Duration.ofMillis(300)).awaitQueued(LONG);
    await(farmer, thread, 14);
    payouts.give(11, "4712", 1).awaitQueued(LONG);
    await(farmer, thread, 15);
    assertEquals(List.of(new Rows.Player(11, "Cara", 15)), rows("player:11", Rows.Player.class));
    thread.shutdown();
  }

  private void await(OnlinePlayer player, ExecutorService thread, long gold) {
    time.until(
        () -> CompletableFuture.supplyAsync(() -> player.row().gold(), thread).join() == gold);
  }
}
