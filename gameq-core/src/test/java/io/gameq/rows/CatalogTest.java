package io.gameq.rows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.RowRefusedException;
import io.gameq.owner.OwnerId;
import io.gameq.rows.CurrentCatalog.Catalog;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CatalogTest {
  private final Table item =
      TableBuilder.table("item").column("id", "int").column("player_id", "int").rank(1).build();
  private final Table guild =
      TableBuilder.table("guild")
          .column("id", "int")
          .column("tag", "varchar(9)")
          .owner("guild", "tag")
          .build();
  private final Catalog catalog =
      new Catalog(List.of(item, guild), Map.of("log", "its engine is MyISAM: use InnoDB"), false);

  @Test
  void namesUnknownAndUnmanagedTables() {
    assertTrue(message("itme").contains("did you mean item?"));
    assertTrue(message("log").contains("MyISAM"));
    assertTrue(message("zzzzzzzzzzz").contains("guild, item"));
  }

  @Test
  void comparesNamesOfTablesAsTheServerDoes() {
    assertTrue(message("Item").contains("did you mean item?"));
    Catalog folding = new Catalog(List.of(item, guild), Map.of(), true);
    assertEquals(item, folding.table("Item"));
    assertTrue(folding.manages("GUILD"));
  }

  @Test
  void takesColumnsInCapitalsAsMySqlDoesAndRefusesOneGivenTwice() {
    Object[] row = {1L, 42L};
    assertArrayEquals(
        row, CanonicalRow.of(item, Map.of("ID", 1, "Player_Id", 42), Clock.systemUTC()));
    RowRefusedException twice =
        assertThrows(
            RowRefusedException.class,
            () -> CanonicalRow.of(item, Map.of("id", 1, "ID", 1), Clock.systemUTC()));
    assertTrue(String.valueOf(twice.getMessage()).contains("given twice"));
  }

  @Test
  void putsParentsFirst() {
    assertEquals(List.of(guild, item), catalog.tables());
    assertEquals(List.of(item), catalog.ownedBy("player"));
  }

  @Test
  void derivesOwnersFromRows() {
    assertEquals(OwnerId.of("player:42"), item.ownerOf(new Object[] {1L, 42L}));
    assertEquals(OwnerId.of("guild:a:b"), guild.ownerOf(new Object[] {1L, "a:b"}));
    assertEquals(42L, item.ownerColumnValue(OwnerId.of("player:42")));
    assertEquals("042", guild.ownerColumnValue(OwnerId.of("guild:042")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "player:abc",
        "player:042",
        "player:+42",
        "player:-0",
        "player:99999999999",
        "guild:42"
      })
  void refusesOwnersThatDoNotFitTheColumn(String id) {
    assertThrows(GameQueueException.class, () -> item.ownerColumnValue(OwnerId.of(id)));
  }

  @Test
  void refusesOwnersThatMySqlWouldMerge() {
    assertThrows(GameQueueException.class, () -> guild.ownerColumnValue(OwnerId.of("guild:a ")));
  }

  @Test
  void ranksParentsBelowChildrenAndBreaksCyclesByName() {
    Map<String, Integer> ranks =
        ForeignKeyRanks.of(
            Set.of("a", "b", "c", "x", "y", "self"),
            Map.of(
                "a", Set.of("b", "outside"),
                "b", Set.of("c"),
                "x", Set.of("y"),
                "y", Set.of("x"),
                "self", Set.of("self")));
    assertEquals(Map.of("c", 0, "b", 1, "a", 2, "x", 0, "y", 1, "self", 0), ranks);
  }

  private String message(String table) {
    return String.valueOf(
        assertThrows(GameQueueException.class, () -> catalog.table(table)).getMessage());
  }
}
