package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.ColumnConverter;
import io.gameq.Converter;
import io.gameq.GameQueue;
import io.gameq.NumberedEnum;
import io.gameq.OwnerSession;
import io.gameq.servers.GameDatabase;
import io.gameq.writer.service.WriterService;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A record of every kind of component through Redis into MySQL and back. */
class RecordTypesTest {
  private static final UUID GUID = UUID.fromString("00112233-4455-6677-8899-aabbccddeeff");

  @TempDir Path walDirectory;

  private enum Rarity implements NumberedEnum {
    EPIC;

    @Override
    public int number() {
      return 20;
    }
  }

  static final class AsText implements Converter<URI, String> {
    @Override
    public String toColumn(URI of) {
      return of.toString();
    }

    @Override
    public URI fromColumn(String text) {
      return URI.create(text);
    }
  }

  private record Gear(String name, List<Double> weights, Map<String, Integer> runes) {}

  private record Hero(
      long playerId,
      UUID guid,
      UUID guidText,
      Rarity rarity,
      Optional<String> nick,
      Optional<Integer> score,
      Gear gear,
      List<String> tags,
      @ColumnConverter(AsText.class) URI home,
      Instant seen) {}

  private static Hero hero(Instant seen) {
    return new Hero(
        1,
        GUID,
        GUID,
        Rarity.EPIC,
        Optional.empty(),
        Optional.of(7),
        new Gear("Helmet \"é\"", List.of(2.0, 1e300), Map.of("ruby", -3)),
        List.of("x"),
        URI.create("gameq:home"),
        seen);
  }

  @Test
  void comesBackAsItWasPutFromRedisAndFromMySql() throws Exception {
    GameDatabase database = GameDatabase.create("records");
    database.table(
        "hero",
        "player",
        "player_id",
        "player_id BIGINT NOT NULL, guid BINARY(16) NOT NULL, guid_text CHAR(36) CHARACTER SET"
            + " ascii COLLATE ascii_bin NOT NULL, rarity TINYINT NOT NULL, nick VARCHAR(20) NULL,"
            + " score INT NULL, gear JSON NOT NULL, tags TEXT NOT NULL, home VARCHAR(99) NOT NULL,"
            + " seen TIMESTAMP(3) NOT NULL, PRIMARY KEY (player_id, guid, guid_text)");
    Instant seen = Instant.parse("2026-11-25T18:00:00.123Z");
    Hero hero = hero(seen.plusNanos(456_789));
    List<Hero> kept = List.of(hero(seen));
    try (Game game = new Game(database, walDirectory);
        GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      player.put(hero);
      player.commit().awaitQueued(LONG);
      assertEquals(kept, queue.read("player:1", Hero.class), "from Redis");
      try (WriterService writer = game.writer("w1")) {
        assertEquals(Set.of(), player.awaitDurable(LONG));
        assertEquals(kept, queue.read("player:1", Hero.class), "from MySQL");
      }
    }
  }
}
