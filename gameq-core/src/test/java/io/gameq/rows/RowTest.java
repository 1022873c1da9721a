package io.gameq.rows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.gameq.GameQueueException;
import io.gameq.Row;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class RowTest {
  private static Table table() {
    return TableBuilder.table("item")
        .column("id", "int")
        .column("player_id", "int")
        .nullable("data", "varbinary(9)")
        .build();
  }

  private static Row row(long id, byte... data) {
    return new TableRow(table(), new Object[] {id, 42L, data});
  }

  @Test
  void comparesByTableAndContent() {
    assertEquals(row(1, (byte) 2), row(1, (byte) 2));
    assertEquals(row(1, (byte) 2).hashCode(), row(1, (byte) 2).hashCode());
    assertNotEquals(row(1, (byte) 2), row(1, (byte) 3));
  }

  @Test
  void handsOutCopiesOfArrays() {
    Row row = row(1, (byte) 2);
    byte[] copy = Objects.requireNonNull(row.getBytes("data"));
    copy[0] = 9;
    assertArrayEquals(new byte[] {2}, row.getBytes("data"));
  }

  @Test
  void showsItsKeyAlone() {
    assertEquals("item:1", row(1, (byte) 2).toString());
    assertEquals(List.of("id", "player_id", "data"), List.copyOf(row(1).asMap().keySet()));
  }

  @Test
  void refusesAGetterOfAnotherType() {
    assertEquals(1L, row(1).getLong("id"));
    assertThrows(GameQueueException.class, () -> row(1).getString("id"));
    assertThrows(GameQueueException.class, () -> row(1).get("idd"));
  }
}
