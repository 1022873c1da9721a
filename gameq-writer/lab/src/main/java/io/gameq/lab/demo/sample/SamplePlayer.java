package io.gameq.lab.demo.sample;

import io.gameq.OwnerSession;
import io.gameq.Row;
import io.gameq.lab.demo.game.DemoActor;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A player in the memory of the demo's game, and what it does. One thread at a time. */
final class SamplePlayer implements DemoActor {
  private static final List<Item.Quality> QUALITIES = List.of(Item.Quality.values());
  private static final int SLOTS = 24;
  private static final int QUESTS = 12;
  private static final int FIRST_ITEMS = 4;
  private static final int KINDS_OF_ITEM = 5_000;
  private static final int LAST_STAGE = 9;

  private final SampleGame game;
  private final long id;
  private final Random random;
  private Player player;
  private boolean created;
  private final TreeMap<Integer, Item> items = new TreeMap<>();
  private final TreeMap<Integer, QuestProgress> quests = new TreeMap<>();
  private final TreeMap<Long, Pet> pets = new TreeMap<>();

  SamplePlayer(SampleGame game, long id, Random random) {
    this.game = game;
    this.id = id;
    this.random = random;
    LocalDateTime now = LocalDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.MICROS);
    // Names with a character of four bytes, which a utf8mb3 connection would lose.
    player = new Player(id, "player \uD83D\uDC09 " + id, 1, BigInteger.ZERO, 100, 0, 0, now);
  }

  @Override
  public String owner() {
    return "player:" + id;
  }

  @Override
  public List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    if (created) {
      rows.add(game.row(player));
    }
    items.values().forEach(item -> rows.add(game.row(item)));
    quests.values().forEach(quest -> rows.add(game.row(quest)));
    pets.values().forEach(pet -> rows.add(game.row(pet)));
    return rows;
  }

  @Override
  public int create(OwnerSession session) {
    created = true;
    session.put(player);
    for (int slot = 0; slot < FIRST_ITEMS; slot++) {
      gain(session, slot);
    }
    Pet pet = new Pet(game.nextPetId(), id, "pet of " + id, new BigDecimal("50.00"));
    pets.put(pet.id(), pet);
    session.put(pet);
    return 2 + FIRST_ITEMS;
  }

  @Override
  public int act(OwnerSession session) {
    int dice = random.nextInt(100);
    if (dice < 25) {
      return walk(session);
    }
    if (dice < 65) {
      return fight(session);
    }
    if (dice < 85) {
      return consume(session);
    }
    return dice < 95 ? quest(session) : train(session);
  }

  private int walk(OwnerSession session) {
    put(
        session,
        player.moved(player.x() + random.nextGaussian(), player.y() + random.nextDouble()));
    return 1;
  }

  /** Experience, gold, and loot in up to three slots. */
  private int fight(OwnerSession session) {
    put(session, player.rewarded(random.nextInt(200), random.nextInt(50)));
    int loot = 1 + random.nextInt(3);
    int first = random.nextInt(SLOTS);
    for (int i = 0; i < loot; i++) {
      gain(session, (first + i) % SLOTS);
    }
    return 1 + loot;
  }

  /** Uses one of a stack, or the last one. */
  private int consume(OwnerSession session) {
    Item item = any(items);
    if (item == null) {
      return walk(session);
    }
    if (item.count() > 1 && random.nextInt(3) > 0) {
      Item less = item.counted(item.count() - 1);
      items.put(item.slot(), less);
      session.put(less);
    } else {
      items.remove(item.slot());
      session.delete(Item.class, id, item.slot());
    }
    put(session, player.rewarded(1, 0));
    return 2;
  }

  private int quest(OwnerSession session) {
    int questId = random.nextInt(QUESTS);
    QuestProgress before = quests.get(questId);
    if (before != null && before.stage() == LAST_STAGE) {
      quests.remove(questId);
      session.delete(QuestProgress.class, id, questId);
      return 1;
    }
    int stage = before == null ? 0 : before.stage() + 1;
    byte[] flags = new byte[random.nextInt(17)];
    random.nextBytes(flags);
    QuestProgress now =
        new QuestProgress(
            id,
            questId,
            stage,
            flags,
            stage == LAST_STAGE ? Instant.now().truncatedTo(ChronoUnit.MILLIS) : null);
    quests.put(questId, now);
    session.put(now);
    put(session, player.rewarded(100L * stage, 10));
    return 2;
  }

  private int train(OwnerSession session) {
    Pet pet = any(pets);
    if (pet == null) {
      return walk(session);
    }
    Pet trained = pet.loyal(BigDecimal.valueOf(random.nextInt(10_001), 2));
    pets.put(pet.id(), trained);
    session.put(trained);
    return 1;
  }

  /** Gives an item or a pet, and gets gold for it. */
  @Override
  public int trade(OwnerSession mine, DemoActor other, OwnerSession theirs) {
    SamplePlayer buyer = (SamplePlayer) other;
    int changed =
        random.nextBoolean() ? givePet(mine, buyer, theirs) : giveItem(mine, buyer, theirs);
    if (changed > 0) {
      put(mine, player.rewarded(0, 10));
      buyer.put(theirs, buyer.player.rewarded(0, -10));
      return changed + 2;
    }
    return 0;
  }

  /** A pet keeps its key: it moves. */
  private int givePet(OwnerSession mine, SamplePlayer buyer, OwnerSession theirs) {
    Pet pet = any(pets);
    if (pet == null) {
      return 0;
    }
    Pet moved = pet.ownedBy(buyer.id);
    pets.remove(pet.id());
    buyer.pets.put(moved.id(), moved);
    mine.move(moved, theirs);
    return 2;
  }

  /** An item's key begins with its player: it leaves one slot and appears in another. */
  private int giveItem(OwnerSession mine, SamplePlayer buyer, OwnerSession theirs) {
    Item item = any(items);
    int free = 0;
    while (buyer.items.containsKey(free)) {
      free++;
    }
    if (item == null || free == SLOTS) {
      return 0;
    }
    Item moved = item.at(buyer.id, free);
    items.remove(item.slot());
    buyer.items.put(free, moved);
    mine.delete(Item.class, id, item.slot());
    theirs.put(moved);
    return 2;
  }

  private void put(OwnerSession session, Player changed) {
    player = changed;
    session.put(changed);
  }

  private void gain(OwnerSession session, int slot) {
    int kind = random.nextInt(KINDS_OF_ITEM);
    Item item =
        new Item(
            id,
            slot,
            kind,
            1L + random.nextInt(20),
            QUALITIES.get(random.nextInt(QUALITIES.size())),
            random.nextInt(4) == 0 ? "{\"durability\": %s}".formatted(random.nextInt(100)) : null);
    items.put(slot, item);
    session.put(item);
  }

  /** One of them at random; null when there is none. */
  private <K, T> @Nullable T any(Map<K, T> of) {
    if (of.isEmpty()) {
      return null;
    }
    Collection<T> values = of.values();
    int skip = random.nextInt(values.size());
    for (T value : values) {
      if (skip-- == 0) {
        return value;
      }
    }
    return null;
  }
}
