package io.gameq.rows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.LayoutException;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.types.ColumnDefault;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RowCodecTest {
  private final Table table =
      TableBuilder.table("item")
          .column("player_id", "int")
          .column("id", "bigint")
          .nullable("name", "varchar(20)")
          .column("price", "decimal(5,2)")
          .build();
  private final @Nullable Object[] row = {3L, 7L, null, new BigDecimal("1.50")};
  private final RowCodec codec = codec(table);

  @Test
  void beginsWithVersionAndOp() {
    byte[] encoded = codec.encode(table, RowOp.PUT, row);
    RowHeader.setVersion(encoded, 0xFEDCBA9876543210L);
    assertEquals("fedcba9876543210p", new String(encoded, 0, 17, StandardCharsets.US_ASCII));
    assertEquals(0xFEDCBA9876543210L, RowHeader.version(encoded));
    assertEquals(RowOp.PUT, RowHeader.op(encoded));
  }

  @Test
  void readsBackPutsMovesAndDeletes() {
    for (RowOp op : RowOp.values()) {
      Object[] values = op == RowOp.DELETE ? table.keyOf(row) : row;
      RowImage image = codec.decode(table, codec.encode(table, op, values));
      assertEquals(op, image.op());
      assertEquals(0, image.version());
      assertArrayEquals(values, image.values());
      assertEquals(RowKey.of(table, row), image.rowKey());
    }
  }

  @Test
  void readsRowsFromBeforeAColumnWasAddedAndWidened() {
    Table old =
        TableBuilder.table("item")
            .column("id", "int unsigned")
            .column("player_id", "int")
            .column("price", "decimal(4,1)")
            .build();
    byte[] encoded = codec.encode(old, RowOp.PUT, new Object[] {7L, 3L, new BigDecimal("1.5")});
    assertArrayEquals(row, codec(old).decode(table, encoded).values());
    byte[] deleted = codec.encode(old, RowOp.DELETE, new Object[] {7L});
    assertArrayEquals(new Object[] {7L}, codec(old).decode(table, deleted).values());
  }

  @Test
  void namesTheColumnsThatAreGone() {
    Table old =
        TableBuilder.table("item")
            .column("id", "int")
            .column("player_id", "int")
            .column("price", "int")
            .column("old, name", "enum('x,y','it''s)')")
            .build();
    byte[] encoded = codec.encode(old, RowOp.PUT, new Object[] {7L, 3L, 1L, "x,y"});
    LayoutException e =
        assertThrows(LayoutException.class, () -> codec(old).decode(table, encoded));
    assertTrue(String.valueOf(e.getMessage()).contains("not there yet: old, name"), e.getMessage());
  }

  @Test
  void leavesADroppedColumnOutUnlessItMayHaveBeenRenamed() {
    Table old =
        TableBuilder.table("item")
            .column("player_id", "int")
            .column("weight", "int")
            .column("id", "bigint")
            .nullable("name", "varchar(20)")
            .column("cost", "decimal(5,2)")
            .build();
    Object[] values = {3L, 9L, 7L, null, new BigDecimal("1.50")};
    byte[] encoded = codec.encode(old, RowOp.PUT, values);
    LayoutException e =
        assertThrows(LayoutException.class, () -> codec(old).decodeByFresh(table, encoded));
    assertTrue(String.valueOf(e.getMessage()).contains("cost"), e.getMessage());
    assertTrue(String.valueOf(e.getMessage()).contains("price"), e.getMessage());
    TableBuilder now =
        TableBuilder.table("item")
            .column("player_id", "int")
            .column("id", "bigint")
            .nullable("name", "varchar(20)")
            .column("cost", "decimal(5,2)")
            .column("later", "int");
    LayoutException unannounced =
        assertThrows(LayoutException.class, () -> codec(old).decodeByFresh(now.build(), encoded));
    assertTrue(
        String.valueOf(unannounced.getMessage()).contains("schema drop-column item weight"),
        unannounced.getMessage());
    assertArrayEquals(
        new Object[] {3L, 7L, null, values[4], 0L},
        codec(old).decodeForGame(now.build(), encoded).values());
    RowImage image = codec(old).decodeByFresh(now.dropped("weight").build(), encoded);
    assertArrayEquals(new Object[] {3L, 7L, null, values[4], 0L}, image.values());
    assertEquals(BitSet.valueOf(new long[] {0b1111}), image.named());
  }

  @Test
  void keepsApartWhatARowDoesNotName() {
    BitSet named = BitSet.valueOf(new long[] {0b0111});
    RowImage part = new RowImage(table, RowOp.PUT, 0, row.clone(), named, false, List.of());
    RowImage read = codec.decode(table, codec.encode(part));
    assertEquals(named, read.named());
    assertEquals(new BigDecimal("0.00"), read.values()[3], "what MySQL gives such rows");
    RowImage older = new RowImage(table, RowOp.PUT, 0, row);
    assertArrayEquals(row, read.over(older).values());
    assertNull(read.over(older).named(), "all");
    RowImage deleted = new RowImage(table, RowOp.DELETE, 0, table.keyOf(row));
    assertEquals(new BigDecimal("0.00"), read.over(deleted).values()[3]);
    assertTrue(read.over(deleted).isAnew());
  }

  @Test
  void saysThatARowIsMadeAnew() {
    RowImage anew = new RowImage(table, RowOp.PUT, 0, row, null, true, List.of());
    byte[] encoded = codec.encode(anew);
    assertTrue(RowHeader.isAnew(encoded));
    assertFalse(RowHeader.isAnew(codec.encode(table, RowOp.PUT, row)));
    assertTrue(codec.decode(table, encoded).isAnew());
    Table wide =
        TableBuilder.table("item")
            .column("player_id", "int")
            .column("id", "bigint")
            .nullable("name", "varchar(20)")
            .column("price", "decimal(5,2)")
            .column("later", "int", false, new ColumnDefault.Constant(7L))
            .build();
    RowImage read = codec(table).decode(wide, encoded);
    assertNull(read.named(), "nothing of the row before it stays");
    assertEquals(7L, read.values()[4]);
  }

  @Test
  void refusesLayoutsThatAreUnknownOrDoNotFit() {
    Table old = TableBuilder.table("item").column("id", "int").owner("player", "id").build();
    byte[] encoded = codec.encode(old, RowOp.PUT, new Object[] {7L});
    assertThrows(
        LayoutException.class,
        () -> new RowCodec((t, f) -> null, Clock.systemUTC()).decode(table, encoded));
    LayoutException missing =
        assertThrows(LayoutException.class, () -> codec(old).decode(table, encoded));
    assertTrue(String.valueOf(missing.getMessage()).contains("item.player_id"));
  }

  @Test
  void reportsDamageAsSuch() {
    byte[] encoded = codec.encode(table, RowOp.PUT, row);
    for (int length = 0; length < encoded.length; length++) {
      byte[] torn = Arrays.copyOf(encoded, length);
      assertThrows(GameQueueException.class, () -> codec.decode(table, torn));
    }
    byte[] longer = Arrays.copyOf(encoded, encoded.length + 1);
    assertThrows(GameQueueException.class, () -> codec.decode(table, longer));
  }

  @Test
  void forgetsALargeRowBeforeTheNext() {
    Table blobs =
        TableBuilder.table("b")
            .column("id", "int")
            .column("player_id", "int")
            .column("x", "longblob")
            .build();
    Object[] large = {1L, 2L, new byte[1 << 20]};
    Object[] small = {1L, 2L, new byte[] {9}};
    assertArrayEquals(large, codec.decode(blobs, codec.encode(blobs, RowOp.PUT, large)).values());
    byte[] encoded = codec.encode(blobs, RowOp.PUT, small);
    assertEquals(17 + 1 + 5 + 1 + 1 + 3, encoded.length);
  }

  private static RowCodec codec(Table known) {
    return new RowCodec(
        (name, fingerprint) -> fingerprint == known.fingerprint() ? known.layout() : null,
        Clock.systemUTC());
  }
}
