package io.gameq;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.config.EarlierWals;
import io.gameq.config.GameQueueConfig;
import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.config.PushBack;
import io.gameq.config.WalSync;
import io.gameq.config.WhenRedisIsAway;
import io.gameq.config.WhenRedisIsFull;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class GameQueueConfigTest {
  @Test
  void aBuiltConfigurationDoesNotNoticeWhatItsBuilderIsToldLater() throws Exception {
    var builder =
        GameQueueConfig.builder()
            .redis("redis://127.0.0.1:6379")
            .mysql("jdbc:mysql://127.0.0.1:3306/game", "game", "secret")
            .namespace("mygame")
            .node("n1")
            .walDirectory(Path.of("wal"));
    GameQueueConfig config = builder.build();
    List<Object> before = values(config);
    builder
        .redis("redis://elsewhere")
        .redisPassword("other")
        .mysql("jdbc:mysql://elsewhere/game", "other", "other")
        .poolSize(9)
        .namespace("NOT ALLOWED")
        .node("n 2")
        .walDirectory(Path.of("other"))
        .walKeep(Duration.ofSeconds(-1))
        .walMaxBytes(1)
        .walMinFreeBytes(-1)
        .walSync(WalSync.GROUP)
        .earlierWals(EarlierWals.REFUSE)
        .slots(3)
        .mergeWindow(Duration.ofSeconds(-3))
        .maxRowBytes(1)
        .maxCommit(0, 0)
        .maxInFlight(0, 0, Duration.ofSeconds(-1))
        .maxDirtyRowsPerOwner(0)
        .maxDirtyBytesPerOwner(0)
        .whenRedisIsFull(WhenRedisIsFull.WAIT)
        .whenRedisIsAway(WhenRedisIsAway.FAIL)
        .maxJournal(-1, -1, Duration.ofDays(9))
        .onConflict(conflict -> {})
        .pushBackAtAge(Duration.ZERO, PushBack.SLOW)
        .pushBackAtRows(0, PushBack.REFUSE)
        .pushBackAtMemory(2, PushBack.CALLBACK)
        .maxSlowdown(Duration.ofHours(1))
        .onPressure(pressure -> {})
        .clock(java.time.Clock.tickSeconds(java.time.ZoneOffset.UTC));
    assertEquals(before, values(config));
    assertThrows(GameQueueException.class, builder::build);
  }

  @Test
  void eachRefusalNamesTheSettingAndItsRange() {
    assertRefused(of -> of.namespace("My"), "setting 'namespace' must be 1 to 32 of a-z 0-9 _ -");
    assertRefused(of -> of.slots(12), "setting 'slots' must be a power of two from 1 to 1024");
    assertRefused(of -> of.poolSize(0), "setting 'poolSize' must be 1 to 200, not 0");
    assertRefused(
        of -> of.mergeWindow(Duration.ofMinutes(11)),
        "setting 'mergeWindow' must be 0 to 10 minutes, not PT11M");
    assertRefused(of -> of.walMaxBytes(1), "setting 'walMaxBytes' must be at least 256 MiB, not 1");
    assertRefused(
        of -> of.maxCommit(0, 2_000), "setting 'maxCommit' rows must be 1 to 100,000, not 0");
    assertRefused(
        of -> of.maxRowBytes(5 << 20),
        "setting 'maxRowBytes' must be 64 bytes to half of maxCommit's bytes, not 5242880");
    assertRefused(
        of -> of.maxInFlight(1, 1 << 20, Duration.ZERO),
        "setting 'maxInFlight' bytes must be those of one commit, 8388608, to 1 GiB, not 1048576");
    assertRefused(
        of -> of.maxJournal(1, 1, Duration.ofDays(2)),
        "setting 'maxJournal' time must be 0 to 1 day, not PT48H");
    assertRefused(
        of -> of.pushBackAtAge(Duration.ofMillis(500), PushBack.SLOW),
        "setting 'pushBackAtAge' seconds must be 1 to 604,800, not 0.5");
    assertRefused(
        of -> of.pushBackAtRows(0, PushBack.SLOW),
        "setting 'pushBackAtRows' must be 1 to 1,000,000,000, not 0");
  }

  private static void assertRefused(UnaryOperator<GameQueueConfigBuilder> wrong, String message) {
    GameQueueConfigBuilder builder =
        wrong.apply(
            GameQueueConfig.builder()
                .redis("redis://127.0.0.1:6379")
                .mysql("jdbc:mysql://127.0.0.1:3306/game", "game", "secret")
                .namespace("mygame")
                .node("n1")
                .walDirectory(Path.of("wal")));
    GameQueueException e = assertThrows(GameQueueException.class, builder::build);
    assertTrue(String.valueOf(e.getMessage()).startsWith(message), e::getMessage);
  }

  /** What every accessor returns. */
  private static List<Object> values(GameQueueConfig config) throws ReflectiveOperationException {
    List<Object> values = new ArrayList<>();
    for (Method accessor : GameQueueConfig.class.getDeclaredMethods()) {
      if (accessor.getParameterCount() == 0
          && !Modifier.isStatic(accessor.getModifiers())
          && !accessor.isSynthetic()) {
        values.add(accessor.getName() + "=" + accessor.invoke(config));
      }
    }
    return values;
  }

  @Test
  void aConflictKeepsItsRows() {
    SortedMap<String, Long> rows = new TreeMap<>();
    rows.put("item:1", 1L);
    Conflict conflict = new Conflict("player:1", "s", "why", false, rows);
    rows.clear();
    assertEquals(1, conflict.rows().size());
    assertThrows(UnsupportedOperationException.class, () -> conflict.rows().clear());
  }
}
