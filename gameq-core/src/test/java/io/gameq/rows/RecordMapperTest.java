package io.gameq.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.ColumnName;
import io.gameq.GameQueueException;
import io.gameq.Row;
import io.gameq.TableName;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.RecordMapper.RecordMappers;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RecordMapperTest {
  private final Table table =
      TableBuilder.table("game_item")
          .column("id", "bigint unsigned")
          .column("player_id", "int")
          .column("max_health", "smallint")
          .column("equipped", "tinyint(1)")
          .column("colour", "enum('RED','BLUE')")
          .nullable("price", "decimal(9,2)")
          .column("speed", "float")
          .column("weight", "double")
          .column("flags", "set('a','b','c')")
          .column("born", "date")
          .column("at", "time")
          .column("lasts", "time(3)")
          .column("local", "datetime(6)")
          .column("made", "timestamp")
          .column("title", "varchar(20)")
          .nullable("extra", "int")
          .build();

  private enum Colour {
    RED,
    BLUE
  }

  private record GameItem(
      BigInteger id,
      int playerId,
      short maxHealth,
      boolean equipped,
      Colour colour,
      @Nullable BigDecimal price,
      float speed,
      double weight,
      Set<String> flags,
      LocalDate born,
      LocalTime at,
      Duration lasts,
      LocalDateTime local,
      Instant made,
      @ColumnName("title") String name) {}

  private static final GameItem SWORD =
      new GameItem(
          BigInteger.TEN,
          42,
          (short) 100,
          true,
          Colour.BLUE,
          new BigDecimal("9.90"),
          0.1f,
          0.1,
          Set.of("a", "c"),
          LocalDate.of(2026, 1, 2),
          LocalTime.of(3, 4, 5),
          Duration.ofMillis(-5),
          LocalDateTime.of(2026, 1, 2, 3, 4),
          Instant.ofEpochSecond(5),
          "Sword");

  @TableName("game_item")
  private record Missing(BigInteger id, int maxHealht) {}

  @TableName("game_item")
  private record WrongType(BigInteger id, String maxHealth) {}

  @TableName("game_item")
  private record Extra(int extra) {}

  @TableName("game_item")
  private record Narrow(byte maxHealth) {}

  @Test
  void mapsRecordsThereAndBack() {
    RecordMapper<GameItem> mapper = new RecordMapper<>(GameItem.class, table);
    @Nullable Object[] row = mapper.toPart(SWORD).over(null, Clock.systemUTC());
    assertEquals("a,c", row[table.indexOf("flags")]);
    assertEquals(1L, row[table.indexOf("equipped")]);
    assertEquals(SWORD, mapper.fromRow(new TableRow(table, row)));
  }

  @Test
  void findsTablesBySnakeCaseOrAnnotation() {
    assertEquals("game_item", RecordMapper.tableName(GameItem.class));
    assertEquals("game_item", RecordMapper.tableName(Missing.class));
    assertEquals("http_server2_a", RecordMapper.snakeCase("HTTPServer2A"));
  }

  @Test
  void namesTheComponentWithoutAColumn() {
    refusesToBuild(Missing.class, "maxHealht", "did you mean max_health");
  }

  @Test
  void namesTheComponentOfAnotherType() {
    refusesToBuild(WrongType.class, "maxHealth", "smallint");
  }

  @Test
  void refusesNullForAPrimitiveComponent() {
    Row row =
        new TableRow(
            table,
            new RecordMapper<>(GameItem.class, table).toPart(SWORD).over(null, Clock.systemUTC()));
    GameQueueException e =
        assertThrows(
            GameQueueException.class, () -> new RecordMapper<>(Extra.class, table).fromRow(row));
    assertTrue(String.valueOf(e.getMessage()).contains("game_item.extra is NULL"));
  }

  @Test
  void refusesToNarrowANumber() {
    @Nullable Object[] values =
        new RecordMapper<>(GameItem.class, table).toPart(SWORD).over(null, Clock.systemUTC());
    RecordMapper<Narrow> mapper = new RecordMapper<>(Narrow.class, table);
    assertEquals(new Narrow((byte) 100), mapper.fromRow(new TableRow(table, values)));
    values[table.indexOf("max_health")] = 200L;
    assertThrows(GameQueueException.class, () -> mapper.fromRow(new TableRow(table, values)));
  }

  @Test
  void buildsEachMapperOnce() {
    RecordMappers mappers = new RecordMappers(new Catalog(List.of(table), Map.of(), false));
    assertSame(mappers.of(GameItem.class), mappers.of(GameItem.class));
  }

  private void refusesToBuild(Class<? extends Record> type, String... words) {
    String message =
        String.valueOf(
            assertThrows(GameQueueException.class, () -> new RecordMapper<>(type, table))
                .getMessage());
    for (String word : words) {
      assertTrue(message.contains(word), message);
    }
  }
}
