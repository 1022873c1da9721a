package io.gameq.writer;

import io.gameq.CommitReceipt;
import io.gameq.OwnerSession;
import io.gameq.servers.GameDatabase;

/**
 * A game whose rows MySQL may refuse: pets that are too old, toys of no pet, chests of one name,
 * and what hangs on them.
 */
final class RefusingGame {

  private RefusingGame() {}

  record Pet(long id, long playerId, int age) {}

  record Toy(long id, long playerId, long petId) {}

  record Chest(long id, long playerId, String name) {}

  record Item(long id, long playerId, long chestId) {}

  record Gem(long id, long playerId, long itemId) {}

  /** With pets, toys and chests. */
  static GameDatabase create(String name) throws Exception {
    return GameDatabase.create(name)
        .table(
            "pet",
            "player",
            "player_id",
            "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, age INT NOT NULL,"
                + " KEY (player_id), CONSTRAINT mortal CHECK (age < 100)")
        .table(
            "toy",
            "player",
            "player_id",
            "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, pet_id BIGINT NOT"
                + " NULL, KEY (player_id), CONSTRAINT toy_pet FOREIGN KEY (pet_id)"
                + " REFERENCES pet (id)")
        .table(
            "chest",
            "player",
            "player_id",
            "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, name VARCHAR(20)"
                + " COLLATE utf8mb4_bin NOT NULL, KEY (player_id), UNIQUE (name)");
  }

  /** With items in chests and gems in items, too, that go with them. */
  static GameDatabase createWithItems(String name) throws Exception {
    return create(name)
        .table(
            "item",
            "player",
            "player_id",
            "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, chest_id BIGINT NOT"
                + " NULL, KEY (player_id), CONSTRAINT item_chest FOREIGN KEY (chest_id)"
                + " REFERENCES chest (id) ON DELETE CASCADE")
        .table(
            "gem",
            "player",
            "player_id",
            "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, item_id BIGINT NOT"
                + " NULL, KEY (player_id), CONSTRAINT gem_item FOREIGN KEY (item_id)"
                + " REFERENCES item (id) ON DELETE CASCADE");
  }

  static CommitReceipt commit(OwnerSession session, Record... rows) {
    for (Record row : rows) {
      session.put(row);
    }
    return session.commit();
  }
}
