package io.gameq.rows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.ColumnConverter;
import io.gameq.Converter;
import io.gameq.GameQueueException;
import io.gameq.NumberedEnum;
import io.gameq.RowRefusedException;
import io.gameq.TableName;
import io.gameq.rows.Table.Column;
import java.time.Clock;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class ConversionsTest {
  private static final UUID GUID = UUID.fromString("00112233-4455-6677-8899-aabbccddeeff");

  private final Table table =
      TableBuilder.table("hero")
          .column("id", "int")
          .column("player_id", "int")
          .column("guid", "binary(16)")
          .column("guid_text", "char(36)")
          .column("rarity", "tinyint")
          .nullable("nick", "varchar(20)")
          .nullable("score", "int")
          .column("gear", "json")
          .column("tags", "text")
          .column("position", "varchar(20)")
          .build();

  private enum Rarity implements NumberedEnum {
    COMMON(0),
    EPIC(20);

    private final int number;

    Rarity(int number) {
      this.number = number;
    }

    @Override
    public int number() {
      return number;
    }
  }

  private record Position(int x, int y) {}

  static final class AsText implements Converter<Position, String> {
    @Override
    public String toColumn(Position of) {
      return of.x + ";" + of.y;
    }

    @Override
    public Position fromColumn(String text) {
      String[] parts = text.split(";", -1);
      return new Position(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
    }
  }

  private record Piece(String name, double weight, List<Integer> runes) {}

  private record Gear(Piece head, Map<String, Piece> bag, @Nullable Piece feet) {}

  private record Hero(
      int id,
      int playerId,
      UUID guid,
      UUID guidText,
      Rarity rarity,
      Optional<String> nick,
      Optional<Integer> score,
      Gear gear,
      List<String> tags,
      @ColumnConverter(AsText.class) Position position) {
    Hero withoutOptional() {
      return new Hero(
          id,
          playerId,
          guid,
          guidText,
          rarity,
          Optional.empty(),
          Optional.empty(),
          gear,
          tags,
          position);
    }
  }

  private static final Hero HERO =
      new Hero(
          1,
          42,
          GUID,
          GUID,
          Rarity.EPIC,
          Optional.of("Bob"),
          Optional.of(7),
          new Gear(
              new Piece("Helmet", 2, List.of(3, 4)),
              Map.of("a", new Piece("Rope", Double.NaN, List.of())),
              null),
          List.of("x", "y\"z"),
          new Position(-3, 4));

  @TableName("hero")
  private record ByOrdinal(Plain rarity) {}

  private enum Plain {
    A
  }

  private enum Twice implements NumberedEnum {
    A,
    B;

    @Override
    public int number() {
      return 1;
    }
  }

  @TableName("hero")
  private record SameNumbers(Twice rarity) {}

  static final class NoText implements Converter<Position, Integer> {
    @Override
    public Integer toColumn(Position of) {
      return of.x;
    }

    @Override
    public Position fromColumn(Integer x) {
      return new Position(x, 0);
    }
  }

  @TableName("hero")
  private record WrongConverter(@ColumnConverter(NoText.class) Position position) {}

  static final class NeedsMore implements Converter<Position, String> {
    private final String more;

    NeedsMore(String more) {
      this.more = more;
    }

    @Override
    public String toColumn(Position of) {
      return more;
    }

    @Override
    public Position fromColumn(String text) {
      return new Position(0, 0);
    }
  }

  @TableName("hero")
  private record UnmadeConverter(@ColumnConverter(NeedsMore.class) Position position) {}

  private @Nullable Object[] row(Hero hero) {
    return new RecordMapper<>(Hero.class, table).toPart(hero).over(null, Clock.systemUTC());
  }

  private Hero hero(@Nullable Object[] row) {
    return new RecordMapper<>(Hero.class, table).fromRow(new TableRow(table, row));
  }

  @Test
  void convertsThereAndBack() {
    assertEquals(HERO, hero(row(HERO)));
    assertEquals(HERO.withoutOptional(), hero(row(HERO.withoutOptional())));
  }

  @Test
  void holdsWhatOtherProgramsExpect() {
    @Nullable Object[] row = row(HERO);
    assertArrayEquals(
        HexFormat.of().parseHex("00112233445566778899aabbccddeeff"),
        (byte[]) row[table.indexOf("guid")]);
    assertEquals(GUID.toString(), row[table.indexOf("guid_text")]);
    assertEquals(20L, row[table.indexOf("rarity")]);
    assertEquals("-3;4", row[table.indexOf("position")]);
    assertEquals("[\"x\",\"y\\\"z\"]", row[table.indexOf("tags")]);
    assertEquals(
        "{\"bag\": {\"a\": {\"name\": \"Rope\", \"runes\": [], \"weight\": \"NaN\"}}, \"feet\":"
            + " null, \"head\": {\"name\": \"Helmet\", \"runes\": [3, 4], \"weight\": 2.0}}",
        row[table.indexOf("gear")]);
    assertNull(row(HERO.withoutOptional())[table.indexOf("nick")]);
  }

  @Test
  void mapsTakeThemToo() {
    Column rarity = table.column("rarity");
    assertEquals(20L, rarity.canonical(Rarity.EPIC));
    assertEquals(GUID.toString(), table.column("guid_text").canonical(GUID));
    assertNull(table.column("score").canonical(Optional.empty()));
    assertEquals(7L, table.column("score").canonical(Optional.of(7)));
    assertThrows(RowRefusedException.class, () -> rarity.canonical(Optional.empty()));
    assertThrows(RowRefusedException.class, () -> rarity.canonical(Plain.A));
  }

  @Test
  void saysWhatItCannotRead() {
    @Nullable Object[] row = row(HERO);
    row[table.indexOf("rarity")] = 10L;
    assertSays(() -> hero(row), Rarity.class.getName());
    @Nullable Object[] other = row(HERO);
    other[table.indexOf("gear")] = "[1]";
    assertSays(() -> hero(other), "hero.gear");
    @Nullable Object[] third = row(HERO);
    third[table.indexOf("guid_text")] = "no-uuid";
    assertSays(() -> hero(third), "hero.guid_text");
  }

  @Test
  void saysWhatItCannotConvert() {
    assertSays(() -> new RecordMapper<>(ByOrdinal.class, table), "rarity", "Plain");
    assertSays(() -> new RecordMapper<>(SameNumbers.class, table), "two constants of one number");
    assertSays(
        () -> new RecordMapper<>(UnmadeConverter.class, table),
        "NeedsMore",
        "constructor without parameters");
    RecordMapper<WrongConverter> wrong = new RecordMapper<>(WrongConverter.class, table);
    assertSays(
        () -> wrong.fromRow(new TableRow(table, row(HERO))), "NoText", "hero.position", "String");
    @SuppressWarnings("NullAway") // a list with a null, as a game may make by mistake
    List<String> holes = Arrays.asList("a", null);
    Hero withHoles =
        new Hero(
            1,
            42,
            GUID,
            GUID,
            Rarity.COMMON,
            Optional.empty(),
            Optional.empty(),
            HERO.gear,
            holes,
            HERO.position);
    assertSays(() -> row(withHoles), "hero.tags", "no null");
  }

  private static void assertSays(Executable of, String... parts) {
    GameQueueException e = assertThrows(GameQueueException.class, of);
    for (String part : parts) {
      assertTrue(String.valueOf(e.getMessage()).contains(part), e.getMessage());
    }
  }
}
