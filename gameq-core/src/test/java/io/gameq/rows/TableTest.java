package io.gameq.rows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.RowRefusedException;
import io.gameq.rows.types.ColumnDefault;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TableTest {
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2026-11-20T10:00:00.123456789Z"), ZoneOffset.UTC);

  private final Table table =
      TableBuilder.table("item")
          .column("id", "bigint")
          .column("player_id", "int")
          .column("count", "int", false, new ColumnDefault.Constant(1L))
          .nullable("note", "varchar(20)")
          .column("made", "timestamp(3)", false, new ColumnDefault.Now(3))
          .column("seen", "datetime", false, new ColumnDefault.Now(0))
          .generated("weight")
          .build();

  @Test
  void givesAbsentColumnsTheirDefault() {
    assertArrayEquals(
        new @Nullable Object[] {
          7L,
          3L,
          1L,
          null,
          Instant.parse("2026-11-20T10:00:00.123Z"),
          LocalDateTime.of(2026, 11, 20, 10, 0)
        },
        CanonicalRow.of(table, Map.of("id", 7, "player_id", 3), CLOCK));
  }

  @Test
  void refusesMissingColumnsWithoutDefault() {
    refuses("item.player_id", Map.of("id", 7));
  }

  @Test
  void refusesMissingKeyPartsEvenWithADefault() {
    Table keyed =
        TableBuilder.table("t")
            .column("id", "int", false, new ColumnDefault.Constant(0L))
            .column("player_id", "int")
            .build();
    RowRefusedException refusal =
        assertThrows(
            RowRefusedException.class, () -> CanonicalRow.of(keyed, Map.of("player_id", 1), CLOCK));
    assertTrue(String.valueOf(refusal.getMessage()).contains("t.id"));
  }

  @Test
  void refusesUnknownColumnsWithCloseNames() {
    refuses("did you mean count", Map.of("id", 7, "player_id", 3, "cuont", 1));
    refuses("computed by MySQL", Map.of("id", 7, "player_id", 3, "weight", 1));
    refuses("gameq alone", Map.of("id", 7, "player_id", 3, "gq_version", 1));
  }

  @Test
  void refusesNullInNotNull() {
    Map<String, @Nullable Object> values = new HashMap<>(Map.of("id", 7, "player_id", 3));
    values.put("count", null);
    refuses("item.count", values);
  }

  @Test
  void countsValuesAndKeyParts() {
    assertThrows(RowRefusedException.class, () -> CanonicalRow.key(table, 1, 2));
    assertArrayEquals(new Object[] {1L}, CanonicalRow.key(table, 1));
  }

  @Test
  void fingerprintsItsColumnsWithTheirTypes() {
    assertEquals(
        "id bigint,player_id int,count int,note varchar(20) utf8mb4,made timestamp(3),seen"
            + " datetime",
        table.layout());
    CRC32 crc = new CRC32();
    crc.update(table.layout().getBytes(StandardCharsets.UTF_8));
    assertEquals(crc.getValue(), table.fingerprint());
  }

  private void refuses(String expected, Map<String, ?> values) {
    RowRefusedException refusal =
        assertThrows(RowRefusedException.class, () -> CanonicalRow.of(table, values, CLOCK));
    assertTrue(String.valueOf(refusal.getMessage()).contains(expected), refusal.getMessage());
  }
}
