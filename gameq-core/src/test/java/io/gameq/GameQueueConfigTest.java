package io.gameq;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.gameq.config.EarlierWals;
import io.gameq.config.GameQueueConfig;
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
