package io.gameq.redis.script;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.redis.RedisClock;
import io.gameq.redis.script.NodeSigns.NodeHeartbeat;
import io.gameq.redis.script.NodeSigns.ProcessSigns;
import io.gameq.redis.script.NodeSigns.ProcessSigns.ProcessSign;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ProcessSignsTest {
  private static final String ID = "0badcafe";

  private final SlotFixture redis = new SlotFixture();
  private final ProcessSigns signs = new ProcessSigns(redis.namespace);

  @AfterEach
  void close() {
    signs.all(redis.redis).forEach(of -> signs.forget(redis.redis, of.id()));
    redis.close();
  }

  private void tell(String id, Map<String, String> fields) {
    signs.tell(redis.redis, id, ProcessSigns.NODE, fields);
  }

  private byte[] key(String name) {
    return SlotFixture.bytes(redis.namespace + name);
  }

  @Test
  void whatAProcessSaysReplacesWhatItSaidBefore() {
    tell(ID, Map.of("name", "n1", "parked", "item"));
    tell(ID, Map.of("name", "nö"));
    ProcessSign said = signs.all(redis.redis).get(0);
    assertEquals(ID, said.id());
    assertEquals(ProcessSigns.NODE, said.kind());
    assertEquals(Set.of("name", "kind", "ahead"), said.fields().keySet());
    assertEquals("nö", said.fields().get("name"));
    assertTrue(said.isFresh() && said.silentMillis() < 10_000, said::toString);
    long life = redis.redis.sync().pttl(key(":process:" + ID)) / 1_000;
    assertTrue(life > 600_000 && life <= ProcessSigns.KEPT_SECONDS, "expires in " + life + " s");
  }

  @Test
  void tellsByHowMuchTheClockOfItsHostIsAwayFromThatOfRedis() {
    long nowMillis = RedisClock.now(redis.redis);
    for (long apart : new long[] {3_600_000, -3_600_000, 0}) {
      signs.tell(redis.redis, ID, ProcessSigns.WRITER, Map.of(), nowMillis + apart);
      long ahead = signs.all(redis.redis).get(0).aheadMillis();
      assertTrue(ahead <= apart && ahead > apart - 60_000, apart + " is seen as " + ahead);
    }
  }

  /** Whoever asks whether a node is alive asks for its heartbeat. */
  @Test
  void whatAProcessSaysIsNoSignOfLife() {
    tell(ID, Map.of("name", "n1"));
    assertEquals(null, NodeSigns.aliveNode(redis.redis, redis.namespace, ID));
    assertEquals(ProcessSign.Beat.NONE, signs.all(redis.redis).get(0).beat());
    byte[] heartbeat = NodeSigns.key(redis.namespace, ID);
    NodeHeartbeat.beat(redis.redis, heartbeat, "n1" + NodeSigns.UNHEALED);
    assertEquals(ProcessSign.Beat.UNHEALED, signs.all(redis.redis).get(0).beat());
    NodeHeartbeat.beat(redis.redis, heartbeat, "n1");
    assertEquals(ProcessSign.Beat.HEALED, signs.all(redis.redis).get(0).beat());
    redis.redis.sync().del(heartbeat);
  }

  @Test
  void aSignOfLifeTellsTheNodeThatRedisClockWasSet() {
    RedisClock clock = new RedisClock();
    long unused = clock.measure(redis.redis);
    long now = RedisClock.now(redis.redis);
    clock.saw(now + 3_600_000, System.nanoTime());
    new NodeHeartbeat(redis.namespace, ID, "n1", clock).beatFirst(redis.redis, "a server");
    assertTrue(clock.getAsLong() < now + 60_000, "commits would be due in an hour");
    redis
        .redis
        .sync()
        .del(NodeSigns.key(redis.namespace, ID), NodeSigns.unbrokenKey(redis.namespace));
  }

  @Test
  void isBehindAsLongAsRedisClockIsBeforeTheLatestSign() {
    tell(ID, Map.of("name", "n1"));
    assertEquals(0, signs.clockBehindMillis(redis.redis));
    long ahead = RedisClock.now(redis.redis) + 3_600_000;
    redis.redis.sync().set(key(":clock"), bytes(Long.toString(ahead)));
    tell(ID, Map.of("name", "n1"));
    long behind = signs.clockBehindMillis(redis.redis);
    assertTrue(behind > 3_500_000 && behind <= 3_600_000, "behind by " + behind);
    redis.redis.sync().del(key(":clock"));
  }

  @Test
  void whoEndedInOrderIsNotSeenAnyMore() {
    tell(ID, Map.of("name", "n1"));
    assertTrue(signs.forget(redis.redis, ID));
    assertFalse(signs.forget(redis.redis, ID));
    assertEquals(List.of(), signs.all(redis.redis));
    assertEquals(0, redis.redis.sync().exists(key(":processes"), key(":process:" + ID)));
  }

  @Test
  void theIndexKeepsNeitherTheOldNorTooMany() {
    long now = System.currentTimeMillis();
    redis.redis.sync().zadd(key(":processes"), (double) now - 8 * 86_400_000L, bytes("aged"));
    Object[] many =
        IntStream.range(0, ProcessSigns.MOST)
            .boxed()
            .flatMap(i -> Stream.of((double) now - 60_000 - i, bytes("many" + i)))
            .toArray();
    redis.redis.sync().zadd(key(":processes"), many);
    tell(ID, Map.of("name", "n1"));
    assertEquals(ProcessSigns.MOST, redis.redis.sync().zcard(key(":processes")));
    assertEquals(null, redis.redis.sync().zscore(key(":processes"), bytes("aged")));
    assertEquals(
        null,
        redis.redis.sync().zscore(key(":processes"), bytes("many" + (ProcessSigns.MOST - 1))));
    assertEquals(List.of(ID), signs.all(redis.redis).stream().map(ProcessSign::id).toList());
    redis.redis.sync().del(key(":processes"));
  }

  /** A game of a thousand processes, of which one crashed: it has been silent for longest. */
  @Test
  void aCrashedProcessStaysThoughThereAreAThousandOthers() {
    tell(ID, Map.of("name", "crashed"));
    long now = System.currentTimeMillis();
    redis.redis.sync().zadd(key(":processes"), (double) now - 60_000, bytes(ID));
    for (int i = 0; i < 1_000; i++) {
      tell("%08x".formatted(i), Map.of("name", "n" + i));
    }
    List<ProcessSign> all = signs.all(redis.redis);
    assertEquals(1_001, all.size());
    assertEquals("crashed", all.get(0).fields().get("name"));
    assertTrue(all.get(0).silentMillis() >= 60_000, all.get(0)::toString);
  }

  @Test
  void hundredsOfProcessesAreLookedAtInFewCalls() {
    for (int i = 0; i < 300; i++) {
      tell("%08x".formatted(i), Map.of("name", "n" + i));
    }
    assertEquals(2, redis.scriptCalls(() -> assertEquals(300, signs.all(redis.redis).size())));
  }

  private static byte[] bytes(String text) {
    return SlotFixture.bytes(text);
  }
}
