package io.gameq.recovery.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.LookupScript.ReplayScript;
import io.gameq.redis.script.LookupScript.ReplayScript.Applied;
import io.gameq.redis.script.LookupScript.ReplayScript.Outcome;
import io.gameq.redis.script.LookupScript.ReplayScript.Owner;
import io.gameq.redis.script.LookupScript.ReplayScript.Refused;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rows.EncodedRow;
import io.gameq.servers.TestServers;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** lookup.lua and replay.lua on a real Redis. */
class ScriptsTest {
  private final String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);
  private final OwnerId owner = OwnerId.of("player:42");
  private final OwnerId other = OwnerId.of("player:43");
  private final SessionId first = new SessionId(1, "aaaaaaaa00000001");
  private final SessionId second = new SessionId(2, "bbbbbbbb00000002");
  private final RecoveryRedis recovery =
      RecoveryRedis.open(
          new RedisConfig(TestServers.redisUri(Role.RECOVERY), null, ReplayScript.TIMEOUT_MILLIS),
          namespace,
          1,
          new NoTerm());
  private final StatefulRedisConnection<String, String> redis = TestServers.redis();

  @AfterEach
  void close() {
    redis.sync().keys("{" + namespace + ":*").forEach(key -> redis.sync().del(key));
    redis.close();
    recovery.close();
  }

  private String key(String name) {
    return "{" + namespace + ":0}:" + name;
  }

  private String own(OwnerId of) {
    return key("own:" + of.encoded());
  }

  private String dirty(OwnerId of, SessionId session) {
    return key("dirty:" + of.encoded() + ":" + session.text());
  }

  private String claimed(OwnerId of) {
    return key("claimed:" + of.encoded());
  }

  private static String row(int version, String value) {
    return "%016xp%s".formatted(version, value);
  }

  private static Owner rows(OwnerId of, SessionId session, boolean ends, String... fieldsAndRows) {
    List<EncodedRow> rows = new ArrayList<>();
    for (int i = 0; i < fieldsAndRows.length; i += 2) {
      rows.add(new EncodedRow(fieldsAndRows[i], fieldsAndRows[i + 1].getBytes(US_ASCII)));
    }
    return new Owner(of, session, ends, rows);
  }

  private Outcome replay(Owner... group) {
    return ReplayScript.send(
            recovery.redis().connection(), recovery.redis().slots(), List.of(List.of(group)))
        .get(0)
        .await();
  }

  @Test
  void aSessionIsTakenForOwnerAgainAndItsRowsAreDueAtOnce() {
    assertEquals(
        new Applied(2), replay(rows(owner, first, false, "a", row(5, "x"), "b", row(6, "y"))));
    assertEquals(first.text(), redis.sync().get(own(owner)));
    assertEquals(row(5, "x"), redis.sync().hget(dirty(owner, first), "a"));
    double due = redis.sync().zscore(key("due"), owner.encoded() + ":" + first.text());
    assertTrue(due <= System.currentTimeMillis() + 1_000, "due at " + due);
    assertEquals(0, redis.sync().exists(key("journal"), key("closing")));
  }

  @Test
  void anOlderVersionReplacesNothingDirtyOrClaimed() {
    redis.sync().hset(dirty(owner, first), "a", row(9, "newer"));
    redis.sync().hset(claimed(owner), "b", row(6, "same"));
    assertEquals(
        new Applied(1),
        replay(rows(owner, first, false, "a", row(5, "x"), "b", row(6, "y"), "c", row(1, "z"))));
    assertEquals(row(9, "newer"), redis.sync().hget(dirty(owner, first), "a"));
    assertEquals(
        List.of("a", "c"), redis.sync().hkeys(dirty(owner, first)).stream().sorted().toList());
  }

  @Test
  void whenALaterSessionOwnsOneNothingOfTheGroupIsWritten() {
    redis.sync().set(own(other), second.text());
    assertEquals(
        new Refused(other, second),
        replay(
            rows(owner, first, false, "a", row(5, "x")),
            rows(other, first, false, "b", row(5, "x"))));
    assertEquals(0, redis.sync().exists(own(owner), dirty(owner, first), dirty(other, first)));
  }

  @Test
  void aSessionWhoseNodeIsGoneEndsWithItsLastRow() {
    replay(rows(owner, first, true, "a", row(5, "x")), rows(other, first, true));
    assertTrue(redis.sync().sismember(key("closing"), owner.encoded()));
    assertEquals(-1, redis.sync().pttl(own(owner)), "its rows are still dirty");
    assertTrue(redis.sync().pttl(own(other)) > 0, "nothing of it is dirty");
  }

  @Test
  void aKeyOfTheWrongTypeIsNamedAndNothingIsWritten() {
    redis.sync().set(claimed(other), "broken");
    GameQueueException broken =
        assertThrows(
            GameQueueException.class,
            () -> replay(rows(owner, first, false, "a", row(5, "x")), rows(other, first, false)));
    assertTrue(
        String.valueOf(broken.getMessage()).contains("claimed:player%3A43"), broken::toString);
    assertEquals(0, redis.sync().exists(own(owner)));
  }

  @Test
  void aLookTellsWhereRowsAre() {
    redis.sync().set(own(owner), second.text());
    redis.sync().hset(claimed(owner), "a", row(7, "claimed"));
    redis.sync().hset(dirty(owner, first), "b", row(8, "parked"));
    redis.sync().hset(dirty(owner, second), "a", row(9, "dirty"));
    LookupScript.Question question =
        new LookupScript.Question(owner, List.of(first), List.of("a", "b"));
    LookupScript.Answer answer =
        LookupScript.ask(
                recovery.redis().connection(), recovery.redis().slots(), List.of(question), true)
            .get(0);
    assertEquals(second, answer.ownedBy());
    assertEquals("0000000000000007pclaimed", text(answer.fields().get(0).claimed()));
    assertEquals("0000000000000009pdirty", text(answer.fields().get(0).owned()));
    assertEquals("", text(answer.fields().get(0).dirty().get(0)));
    assertEquals("0000000000000008pparked", text(answer.fields().get(1).dirty().get(0)));
    assertEquals(
        "0000000000000008",
        text(
            LookupScript.ask(
                    recovery.redis().connection(),
                    recovery.redis().slots(),
                    List.of(question),
                    false)
                .get(0)
                .fields()
                .get(1)
                .dirty()
                .get(0)));
  }

  @Test
  void thousandsOfRowsOfOneOwnerAreLookedUp() {
    List<String> fields = new ArrayList<>();
    for (int i = 0; i < 9_000; i++) {
      fields.add("f" + i);
    }
    redis.sync().hset(claimed(owner), "f8999", row(1, "last"));
    LookupScript.Answer answer =
        LookupScript.ask(
                recovery.redis().connection(),
                recovery.redis().slots(),
                List.of(new LookupScript.Question(owner, List.of(first), fields)),
                true)
            .get(0);
    assertEquals(9_000, answer.fields().size());
    assertEquals("0000000000000001plast", text(answer.fields().get(8_999).claimed()));
  }

  private static String text(byte[] bytes) {
    return new String(bytes, US_ASCII);
  }
}
