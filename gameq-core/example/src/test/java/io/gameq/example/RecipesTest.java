package io.gameq.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the page says beyond the day of the example, on two nodes. */
class RecipesTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  @TempDir static Path directory;

  private static ExampleWorld world;
  private GameQueue here;
  private GameQueue there;

  @BeforeAll
  static void startWorld() throws Exception {
    world = new ExampleWorld(directory, System.getProperty("java.class.path"));
  }

  @AfterAll
  static void stopWorld() throws Exception {
    world.close();
  }

  @BeforeEach
  void start() {
    here = node("node-1");
    there = node("node-2");
  }

  private GameQueue node(String name) {
    return GameQueue.open(GameMain.config(world.settings(), name, directory.resolve("wal")));
  }

  @AfterEach
  void stop() {
    here.close();
    there.close();
  }

  private OnlinePlayer login(GameQueue queue, long id, String name) {
    return new OnlinePlayer(queue.open("player:" + id), id, name);
  }

  private void inMySql(List<String> rows, String query) throws Exception {
    assertEquals(List.of(), List.copyOf(here.drain(LONG)));
    assertEquals(List.of(), List.copyOf(there.drain(LONG)));
    assertEquals(rows, world.rows(query));
  }

  @Test
  void aNameIsOnePlayersAndFreeOnceThatOneHasAnother() throws Exception {
    OnlinePlayer anna = login(here, 31, "player-31");
    OnlinePlayer bert = login(there, 32, "player-32");
    NameRegister names = new NameRegister(here);
    NameRegister others = new NameRegister(there);
    CompletableFuture<Boolean> one =
        CompletableFuture.supplyAsync(() -> names.rename(anna, "Blade"));
    boolean other = others.rename(bert, "blade");
    assertTrue(one.get(1, TimeUnit.MINUTES) ^ other, "one of them has it");
    OnlinePlayer loser = other ? anna : bert;
    assertFalse((other ? names : others).rename(loser, "BLADE"));
    assertTrue((other ? others : names).rename(other ? bert : anna, "Rose"));
    assertTrue((other ? names : others).rename(loser, "Blade"));
    inMySql(List.of("blade", "rose"), "SELECT name FROM player_name ORDER BY name");
    inMySql(List.of("Blade", "Rose"), "SELECT name FROM player WHERE player_id > 30 ORDER BY name");
  }

  @Test
  void whoSellsIsPaidOnceOnlineElsewhereOrAtTheNextLogin() throws Exception {
    GiftShop gifts = new GiftShop(here);
    MarketHall market = new MarketHall(here, gifts);
    ExecutorService thread = Executors.newSingleThreadExecutor();
    OnlinePlayer seller = login(there, 21, "Anna");
    seller.find(1, 7, 10);
    seller.find(2, 8, 0);
    MarketHall elsewhere = new MarketHall(there, new GiftShop(there));
    long sword = elsewhere.list(seller, 1, 30);
    long shield = elsewhere.list(seller, 2, 5);
    OnlinePlayer buyer = login(here, 22, "Bert");
    buyer.find(9, 1, 100);
    seller.onGifts(thread);
    market.buy(buyer, sword, 30, 1);
    await(seller, thread, 40);
    seller.session().close();
    market.buy(buyer, shield, 5, 2);
    assertThrows(IllegalStateException.class, () -> market.buy(buyer, shield, 5, 3));
    gifts.give(21, 1_000, "sorry").awaitQueued(LONG);
    OnlinePlayer again = login(here, 21, "Anna");
    again.onGifts(thread);
    await(again, thread, 1_045);
    inMySql(
        List.of("Anna 1045", "Bert 65"),
        "SELECT name, gold FROM player WHERE player_id IN (21, 22) ORDER BY 1");
    inMySql(List.of(), "SELECT gift_id FROM gift UNION ALL SELECT listing_id FROM listing");
    inMySql(
        List.of("1 7", "2 8", "9 1"),
        "SELECT slot, item_id FROM item WHERE player_id = 22 ORDER BY 1");
    thread.shutdown();
  }

  @Test
  void aTimerFiresOnceForAPlayerWhoIsOnAnotherNode() throws Exception {
    GiftShop gifts = new GiftShop(here);
    ExecutorService thread = Executors.newSingleThreadExecutor();
    OnlinePlayer farmer = login(there, 11, "Cara");
    farmer.find(1, 7, 10);
    farmer.onGifts(thread);
    new GiftShop(there).sow(farmer, 3, 4, Duration.ofMillis(300)).awaitQueued(LONG);
    await(farmer, thread, 14);
    gifts.give(11, 1, "one more").awaitQueued(LONG);
    await(farmer, thread, 15);
    inMySql(List.of("Cara 15"), "SELECT name, gold FROM player WHERE player_id = 11");
    thread.shutdown();
  }

  private static void await(OnlinePlayer player, ExecutorService thread, long gold)
      throws Exception {
    long until = System.nanoTime() + LONG.toNanos();
    while (thread.submit(() -> player.row().gold()).get() != gold) {
      assertTrue(System.nanoTime() < until, () -> "has " + player.row().gold());
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }
}
