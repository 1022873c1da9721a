package io.gameq.lab.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.Row;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import io.gameq.rows.Table.ForeignKeys;
import io.gameq.rows.Table.TableDefinition;
import io.gameq.rows.TableRow;
import io.gameq.rows.types.ColumnDefault;
import io.gameq.rows.types.ColumnTypes;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the demo calls lost, stale and resurrected. */
class MismatchesTest {
  private static final Table ITEM =
      new Table(
          new TableDefinition(
              "item",
              List.of(integer("id"), integer("player_id"), integer("count")),
              Set.of(),
              Set.of(),
              List.of("id"),
              "player",
              "player_id",
              List.of(),
              ForeignKeys.NONE));

  private final Mismatches mismatches = new Mismatches();

  @Test
  void findsNothingWhereAllIsEqual() {
    mismatches.compare("here", List.of(item(1, 5)), List.of(item(1, 5)));
    assertEquals(0, mismatches.sum());
    assertEquals(1, mismatches.compared.sum());
  }

  @Test
  void aMissingRowIsLost() {
    mismatches.compare("here", List.of(item(1, 5)), List.of());
    assertEquals(1, mismatches.lost.sum());
    assertEquals(List.of("lost here: item:1"), mismatches.named());
  }

  @Test
  void anotherValueIsStaleAndNamed() {
    mismatches.compare("here", List.of(item(1, 5)), List.of(item(1, 4)));
    assertEquals(1, mismatches.stale.sum());
    assertEquals(List.of("stale here: item:1, count is 4, not 5"), mismatches.named());
  }

  @Test
  void aRowThatShouldBeGoneIsResurrected() {
    mismatches.compare("here", List.of(), List.of(item(1, 5)));
    assertEquals(1, mismatches.resurrected.sum());
    assertEquals(List.of("resurrected here: item:1"), mismatches.named());
  }

  private static Row item(long id, long count) {
    return new TableRow(ITEM, new Object[] {id, 7L, count});
  }

  private static Column integer(String name) {
    return new Column(
        "item." + name,
        name,
        "int(11)",
        ColumnTypes.parse("int(11)", null, null),
        false,
        ColumnDefault.NONE);
  }
}
