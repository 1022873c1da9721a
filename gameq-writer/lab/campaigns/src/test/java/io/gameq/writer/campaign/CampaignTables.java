package io.gameq.writer.campaign;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tables of the campaign's game and what is common to its rows. Stateless.
 *
 * <p>{@code item}: few rows, written again and again, deleted, made anew, traded. {@code pet}: rows
 * that move between owners. {@code deed}: written once and never again, so that a loss stays
 * visible. {@code gear}: rows that exchange what is unique, and bags with rows in them; written
 * only where a case asks for it. {@code mail}: rows that are sent to owners, who change and delete
 * them.
 */
final class CampaignTables {
  static final String GEAR = "gear";
  static final String MAIL = "mail";

  static final List<String> NAMES = List.of("item", "pet", "deed", GEAR, MAIL);

  /** What {@code val} begins with where MySQL refuses the row. */
  static final String POISON = "poison-";

  /** What the refusal names. */
  static final String CHECK = "no_poison";

  private CampaignTables() {}

  record Item(long playerId, int slot, String val) {}

  record Pet(long id, long playerId, String val) {}

  record Deed(long id, long playerId, String val) {}

  record Gear(long id, long playerId, int slot, @Nullable Long bag, String val) {}

  record Mail(long id, long playerId, String val) {}

  /** What stands between the brackets of CREATE TABLE. */
  static String columns(String table) {
    return switch (table) {
      case "item" ->
          "player_id BIGINT NOT NULL, slot INT NOT NULL, val VARCHAR(40) NOT NULL, PRIMARY KEY"
              + " (player_id, slot), CONSTRAINT "
              + CHECK
              + " CHECK (val NOT LIKE '"
              + POISON
              + "%')";
      case "pet", "deed", MAIL ->
          "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, val VARCHAR(40) NOT NULL, KEY"
              + " (player_id)";
      case GEAR ->
          "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, slot INT NOT NULL, bag"
              + " BIGINT, val VARCHAR(40) NOT NULL, UNIQUE KEY (player_id, slot), KEY (bag),"
              + " FOREIGN KEY (bag) REFERENCES gear (id)";
      default -> throw new IllegalArgumentException(table);
    };
  }

  static String player(long id) {
    return "player:" + id;
  }

  static String item(long player, int slot) {
    return "item:" + player + "," + slot;
  }

  static String pet(long id) {
    return "pet:" + id;
  }

  static String deed(long id) {
    return "deed:" + id;
  }

  static String gear(long id) {
    return "gear:" + id;
  }

  static String mail(long id) {
    return "mail:" + id;
  }
}
