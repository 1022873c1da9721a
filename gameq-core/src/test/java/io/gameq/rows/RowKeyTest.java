package io.gameq.rows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.RowRefusedException;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.EncodedRow.RowKey;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RowKeyTest {
  private final Table table =
      TableBuilder.table("häuser")
          .column("player_id", "bigint")
          .column("name", "varchar(200)")
          .column("tag", "varbinary(300)")
          .column("price", "decimal(5,2)")
          .key("name", "tag", "price")
          .build();

  @Test
  void joinsEncodedPartsInTheOrderOfTheKey() {
    RowKey key = key("a,b:c{é}", new byte[] {0, -1}, 7);
    assertEquals("h%C3%A4user:a%2Cb%3Ac%7B%C3%A9%7D,00ff,7.00", key.text());
    assertEquals("a%2Cb%3Ac%7B%C3%A9%7D,00ff,7.00", key.keyText());
  }

  @Test
  void readsBackWhatItWrote() {
    Catalog catalog = new Catalog(List.of(table), Map.of(), false);
    RowKey key = key("", new byte[0], -1);
    RowKey read = catalog.rowKey(key.text());
    assertEquals(key, read);
    assertArrayEquals(CanonicalRow.key(table, "", new byte[0], -1), read.parts());
  }

  @Test
  void tellsTheTableOfATextWhetherItIsManagedOrNot() {
    assertEquals("häuser", RowKey.tableName(key("", new byte[0], 1).text()));
    assertEquals("gone", RowKey.tableName("gone:a:b"));
    assertThrows(GameQueueException.class, () -> RowKey.tableName(":1"));
    assertThrows(GameQueueException.class, () -> RowKey.tableName("item"));
    assertThrows(GameQueueException.class, () -> RowKey.tableName("it%4:1"));
  }

  @Test
  void readsBackEveryTypeOfKey() {
    Table all =
        TableBuilder.table("t")
            .column("player_id", "bigint unsigned")
            .column("e", "enum('a b','c')")
            .column("d", "date")
            .column("dt", "datetime(6)")
            .column("ts", "timestamp(3)")
            .column("t", "time(1)")
            .key("player_id", "e", "d", "dt", "ts", "t")
            .build();
    Object[] parts =
        CanonicalRow.key(
            all,
            BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE),
            "a b",
            LocalDate.of(1, 1, 1),
            LocalDateTime.of(2026, 1, 1, 0, 0, 0, 1_000),
            Instant.ofEpochSecond(1),
            Duration.ofMillis(-100));
    assertArrayEquals(parts, RowKey.ofKey(all, parts).parts());
  }

  @Test
  void refusesKeysBeyondTheLimit() {
    key("a".repeat(199), new byte[153], 1);
    RowRefusedException refusal =
        assertThrows(RowRefusedException.class, () -> key("a".repeat(200), new byte[300], 1));
    assertTrue(String.valueOf(refusal.getMessage()).contains("512"));
  }

  private RowKey key(Object... parts) {
    return RowKey.ofKey(table, CanonicalRow.key(table, parts));
  }
}
