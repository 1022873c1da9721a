package io.gameq.backlog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.backlog.SharedBacklog.BacklogSummary;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisServerCheck.RedisState;
import io.gameq.redis.Slots;
import io.gameq.redis.script.SlotBacklog;
import io.gameq.redis.script.SlotBacklog.BacklogScript;
import io.gameq.servers.TestServers;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SharedBacklogTest {
  private static final int SLOTS = 4;

  private final String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);
  private final String key = namespace + ":backlog";
  private final Slots slots = new Slots(namespace, SLOTS);
  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.redisUri()));
  private final RedisConnection redis = connector.open();
  private final SharedSnapshot<Backlog> writer = ofWriter();
  private final SharedSnapshot<BacklogSummary> node = SharedBacklog.summary(namespace, slots);

  private SharedSnapshot<Backlog> ofWriter() {
    return SharedBacklog.whole(namespace, SLOTS, of -> Backlog.of(of, slots));
  }

  private boolean isToLook(long oldMillis) {
    return BacklogScript.ask(redis, namespace, "backlog", "slots", "", oldMillis).isToLook();
  }

  @AfterEach
  void close() {
    redis.close();
    connector.close();
  }

  private void waits(int owners) {
    for (int i = 0; i < owners; i++) {
      TestServers.redis().sync().zadd("{" + namespace + ":1}:due", 1, i + "o:s");
    }
  }

  /** The latest look is so old. */
  private void age(long millis) {
    String at = TestServers.redis().sync().hget(key, "at");
    TestServers.redis().sync().hset(key, "at", Long.toString(Long.parseLong(at) - millis));
  }

  @Test
  void oneLooksAndAllOthersSeeWhatItSaw() {
    waits(3);
    SharedSnapshot.SeenSnapshot<Backlog> first = Objects.requireNonNull(writer.latest(redis));
    assertEquals(0, first.ageMillis());
    assertEquals(3, first.what().slots().get(1).due());
    waits(5);
    SharedSnapshot<Backlog> other = ofWriter();
    for (int i = 0; i < 2; i++) { // the second time without a text
      assertEquals(first.what(), Objects.requireNonNull(other.latest(redis)).what());
    }
    assertEquals(
        BacklogSummary.of(first.what()), Objects.requireNonNull(node.latest(redis)).what());
    age(SharedBacklog.OLD_MILLIS);
    assertEquals(5, Objects.requireNonNull(other.latest(redis)).what().slots().get(1).due());
    assertEquals(5, Objects.requireNonNull(writer.latest(redis)).what().slots().get(1).due());
  }

  @Test
  void whatIsHeldUpIsNotOldForNodes() {
    SlotBacklog heldUp =
        new SlotBacklog(0, 100_000, 1, 1, 0, 0, 0, 1_000, 99_000, 1, 1, 0, 0, 0, 0);
    Backlog backlog =
        new Backlog(List.of(heldUp), new RedisState("8", 1, 0, "noeviction", 0), List.of(), 0);
    assertEquals(99_000, backlog.oldestAgeMillis());
    assertEquals(1_000, BacklogSummary.of(backlog).oldestAgeMillis());
  }

  @Test
  void whileSomebodyLooksOthersSeeTheOldLookAndNoneBeforeTheFirst() {
    assertTrue(isToLook(SharedBacklog.OLD_MILLIS));
    assertNull(writer.latest(redis), "somebody else looks");
    TestServers.redis().sync().hdel(key, "looking");
    assertNotNull(writer.latest(redis));
    age(SharedBacklog.OLD_MILLIS);
    assertTrue(isToLook(SharedBacklog.OLD_MILLIS));
    assertTrue(Objects.requireNonNull(writer.latest(redis)).ageMillis() > 4_000);
    TestServers.redis().sync().hset(key, "looking", "1"); // who looked has died
    assertEquals(0, Objects.requireNonNull(writer.latest(redis)).ageMillis());
  }

  @Test
  void aNodeLooksWhenNoWriterDid() {
    assertNotNull(node.latest(redis), "the very first look");
    age(SharedBacklog.OLD_MILLIS);
    waits(3);
    assertTrue(Objects.requireNonNull(node.latest(redis)).ageMillis() >= SharedBacklog.OLD_MILLIS);
    age(SharedBacklog.OLD_WITHOUT_WRITER_MILLIS - SharedBacklog.OLD_MILLIS);
    assertEquals(0, Objects.requireNonNull(node.latest(redis)).ageMillis());
    assertEquals(3, Objects.requireNonNull(writer.latest(redis)).what().owners());
  }

  @Test
  void whoCannotReadALookLooksForItself() {
    assertTrue(isToLook(SharedBacklog.OLD_MILLIS));
    String unused =
        BacklogScript.publish(
            redis, namespace, "backlog", java.util.Map.of("slots", "2 x", "summary", "2 y"));
    assertNotNull(writer.latest(redis));
    assertNotNull(node.latest(redis));
  }

  @Test
  void somebodyElsesValueIsReplacedAndTheKeyExpires() {
    TestServers.redis().sync().set(key, "mine");
    assertNotNull(writer.latest(redis));
    assertTrue(TestServers.redis().sync().pttl(key) > 0);
  }
}
