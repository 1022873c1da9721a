package io.gameq.writer.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.backlog.SharedSnapshot;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.NodeSigns.ProcessSigns;
import io.gameq.redis.script.SlotBacklog.BacklogScript;
import io.gameq.servers.TestServers;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ProcessesLookTest {
  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.redisUri()));
  private final RedisConnection redis = connector.open();
  private final String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);
  private final String key = namespace + ":fleet";
  private final ProcessSigns signs = new ProcessSigns(namespace);
  private final SharedSnapshot<Processes> first = Processes.shared(namespace);
  private final SharedSnapshot<Processes> other = Processes.shared(namespace);

  @AfterEach
  void close() {
    redis.close();
    connector.close();
  }

  private void tell(String id, String kind) {
    signs.tell(redis, id, kind, Map.of("name", id, "phase", "running"));
  }

  private List<String> nodes(SharedSnapshot<Processes> of) {
    return Objects.requireNonNull(of.latest(redis)).what().nodes().stream()
        .map(Processes.NodeStatus::id)
        .toList();
  }

  @Test
  void aClockThatIsAnHourOffIsToldByTheNameOfItsProcess() {
    tell("0000000a", ProcessSigns.WRITER);
    tell("0000000b", ProcessSigns.WRITER);
    Processes right = Processes.of(redis, namespace);
    assertEquals(List.of(), right.toDo());
    assertTrue(right.clocksApartMillis() < 10_000, right::toString);
    redis
        .sync()
        .hset(
            SlotKeys.bytes(namespace + ":process:0000000b"),
            SlotKeys.bytes("ahead"),
            SlotKeys.bytes("-3600000"));
    Processes wrong = Processes.of(redis, namespace);
    assertEquals(3_600_000, wrong.clocksApartMillis());
    assertEquals(1, wrong.toDo().size(), wrong::toString);
    assertTrue(
        wrong.toDo().get(0).startsWith("the clock of writer 0000000b is 1 h 0 min behind"),
        wrong.toDo().get(0));
  }

  @Test
  void oneWriterLooksAndAllOthersSeeWhatItSaw() {
    tell("0000000a", ProcessSigns.NODE);
    tell("0000000b", ProcessSigns.WRITER);
    assertEquals(List.of("0000000a"), nodes(first));
    tell("0000000c", ProcessSigns.NODE);
    for (int i = 0; i < 2; i++) { // the second time without a text
      Processes seen = Objects.requireNonNull(other.latest(redis)).what();
      assertEquals(Objects.requireNonNull(first.latest(redis)).what(), seen);
      assertEquals(List.of("0000000b"), seen.claiming());
    }
    TestServers.redis().sync().hset(key, "at", "1"); // long ago
    assertEquals(List.of("0000000a", "0000000c"), nodes(other));
    assertEquals(List.of("0000000a", "0000000c"), nodes(first));
  }

  @Test
  void whoCannotReadALookLooksForItself() {
    tell("0000000a", ProcessSigns.NODE);
    assertEquals(List.of("0000000a"), nodes(first));
    TestServers.redis().sync().hset(key, "signs", "{");
    assertEquals(List.of("0000000a"), nodes(other));
  }

  @Test
  void whileSomebodyElseTakesTheVeryFirstLookNothingIsKnown() {
    assertTrue(BacklogScript.ask(redis, namespace, "fleet", "signs", "", 5_000).isToLook());
    assertNull(first.latest(redis));
  }
}
