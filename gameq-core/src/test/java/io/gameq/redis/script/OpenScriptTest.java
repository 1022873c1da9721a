package io.gameq.redis.script;

import static io.gameq.redis.script.SlotFixture.row;
import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.owner.SessionId;
import io.gameq.redis.ChannelListener;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.SessionScripts.RowNotices;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rows.EncodedRow;
import io.gameq.servers.TestServers;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OpenScriptTest {
  private final SlotFixture slot = new SlotFixture();

  @AfterEach
  void close() {
    slot.close();
  }

  @Test
  void aNewSessionAdoptsWhatTheOneBeforeLeftDirty() {
    slot.open(slot.first);
    slot.commit(slot.first, "item:1", row(5, "a"), 9_000_000_000_000L);
    SessionScripts.Opened opened =
        assertInstanceOf(SessionScripts.Opened.class, slot.open(slot.second));
    assertEquals(List.of("item:1"), opened.dirty().stream().map(EncodedRow::key).toList());
    assertEquals(Map.of("item:1", row(5, "a")), slot.dirty(slot.second));
    assertEquals(Map.of(), slot.dirty(slot.first));
    assertEquals(List.of(slot.member(slot.second)), slot.due());
    assertEquals(slot.second.text(), slot.own());
  }

  @Test
  void anOlderSessionIsRefusedAndChangesNothing() {
    slot.open(slot.second);
    slot.commit(slot.second, "item:1", row(5, "a"), 9_000_000_000_000L);
    SessionScripts.Refused refused =
        assertInstanceOf(SessionScripts.Refused.class, slot.open(slot.first));
    assertEquals(slot.second, refused.ownedBy());
    assertEquals(slot.second.text(), slot.own());
    assertEquals(Map.of("item:1", row(5, "a")), slot.dirty(slot.second));
  }

  @Test
  void openingAgainWithTheSameSessionKeepsItsRows() {
    slot.open(slot.first);
    slot.commit(slot.first, "item:1", row(5, "a"), 9_000_000_000_000L);
    SessionScripts.Opened again =
        assertInstanceOf(SessionScripts.Opened.class, slot.open(slot.first));
    assertEquals(1, again.dirty().size());
    assertEquals(Map.of("item:1", row(5, "a")), slot.dirty(slot.first));
  }

  @Test
  void rowsThatALostSessionWroteLateAreNotAdopted() {
    slot.open(slot.first);
    slot.open(slot.second);
    slot.commit(slot.first, "item:1", row(9, "late"), 0);
    SessionScripts.Opened third =
        assertInstanceOf(
            SessionScripts.Opened.class, slot.open(new SessionId(3, "cccccccc00000003")));
    assertEquals(List.of(), third.dirty());
  }

  @Test
  void aClosedSessionsOwnKeyExpiresOnlyWhenNothingWaits() {
    slot.open(slot.first);
    SessionScripts.close(slot.redis, slot.slot, slot.owner, slot.first);
    assertTrue(slot.ownLifeMillis() > 0);
    slot.open(slot.second);
    assertEquals(-1, slot.ownLifeMillis());
    slot.commit(slot.second, "item:1", row(5, "a"), 9_000_000_000_000L);
    SessionScripts.close(slot.redis, slot.slot, slot.owner, slot.second);
    assertEquals(-1, slot.ownLifeMillis());
  }

  @Test
  void closingALostSessionLeavesItsSuccessorAlone() {
    slot.open(slot.first);
    slot.open(slot.second);
    SessionScripts.close(slot.redis, slot.slot, slot.owner, slot.first);
    assertEquals(-1, slot.ownLifeMillis());
  }

  @Test
  void reassertIsRefusedWhenANewerSessionOwns() {
    slot.open(slot.second);
    assertEquals(false, SessionScripts.reassert(slot.redis, slot.slot, slot.owner, slot.first));
    assertEquals(slot.second.text(), slot.own());
    assertEquals(
        true,
        SessionScripts.reassert(
            slot.redis, slot.slot, slot.owner, new SessionId(3, "cccccccc00000003")));
  }

  @Test
  void whoeverOwnedUntilNowIsToldByOpenAndByReassert() {
    Queue<String> told = new ConcurrentLinkedQueue<>();
    try (RedisConnector connector =
            new RedisConnector(new RedisConfig(TestServers.redisUri(Role.NODE)));
        ChannelListener ofFirst = notices(connector, slot.first, told);
        ChannelListener ofSecond = notices(connector, slot.second, told)) {
      ofFirst.keep();
      ofSecond.keep();
      slot.open(slot.first);
      slot.open(slot.first);
      slot.open(slot.second);
      SessionId third = new SessionId(3, "cccccccc00000003");
      assertTrue(SessionScripts.reassert(slot.redis, slot.slot, slot.owner, third));
      String owner = slot.owner.encoded() + " ";
      await().atMost(LONG).until(() -> told.size() == 2);
      assertEquals(Set.of(owner + slot.first.text(), owner + slot.second.text()), Set.copyOf(told));
    }
  }

  private ChannelListener notices(RedisConnector connector, SessionId session, Queue<String> told) {
    return ChannelListener.ofProcess(
        connector,
        slot.namespace,
        session.nonce().substring(0, 8),
        new ChannelListener.Notices() {
          @Override
          public void durable(
              String owner,
              String of,
              long version,
              Map<String, Long> setAside,
              Map<String, Long> kept) {}

          @Override
          public void lost(String owner, String of) {
            told.add(owner + " " + of);
          }
        });
  }

  private void hash(String key, String field, String value) {
    slot.redis
        .sync()
        .hset(
            SlotKeys.bytes(slot.slot.prefix() + key), SlotKeys.bytes(field), SlotKeys.bytes(value));
  }

  /** What a node's sessions are to be told of: rows, with a star when they may have been told. */
  private Set<String> toTell(SessionId session) {
    return RowNotices.read(slot.redis, slot.slot, session.nonce().substring(0, 8)).stream()
        .filter(of -> of.session().equals(session.text()))
        .map(of -> of.key() + " " + of.version() + " " + of.sender() + (of.isAgain() ? "*" : ""))
        .collect(Collectors.toSet());
  }

  @Test
  void aSessionThatIsToldAgainIsToldOfWhatWasSentMeanwhile() {
    String owner = slot.owner.encoded();
    String inbox = owner + "!deadbeef";
    String ofInbox = SessionId.ofInbox("deadbeef").text();
    slot.open(slot.first);
    hash(":inboxes:" + owner, inbox, ofInbox);
    hash(":dirty:" + inbox + ":" + ofInbox, "item:1", row(5, "waits"));
    hash(":claimed:" + inbox, "item:2", row(6, "is flushed"));
    hash(":unheld:" + owner, "item:3", row(7, "").substring(0, 16) + "deadbeef");
    String toFirst = owner + " " + slot.first.text() + " item:4";
    hash(":sent:aaaaaaaa", toFirst, "0" + row(8, "").substring(0, 16) + "deadbeef");
    assertEquals(Set.of("item:4 8 deadbeef"), toTell(slot.first));
    SessionScripts.reassert(slot.redis, slot.slot, slot.owner, slot.first);
    assertEquals(Set.of("item:4 8 deadbeef"), toTell(slot.first), "Redis knew it");
    SessionScripts.reassert(slot.redis, slot.slot, slot.owner, slot.second);
    assertEquals(
        Set.of(
            "item:1 5 deadbeef*", "item:2 6 deadbeef*", "item:3 7 deadbeef*", "item:4 8 deadbeef*"),
        toTell(slot.second));
    assertEquals(
        List.of(row(5, "waits"), row(6, "is flushed")),
        RowNotices.waiting(
                slot.redis, slot.slot, RowNotices.read(slot.redis, slot.slot, "bbbbbbbb"))
            .stream()
            .sorted(Comparator.comparing(EncodedRow::key))
            .map(of -> SlotFixture.text(of.image()))
            .toList());
  }

  @Test
  void aSessionIsToldAgainThoughSomebodyElseWroteIntoKeysOfRowsThatWereSent() {
    for (String key : List.of(":unheld:", ":inboxes:")) {
      slot.redis
          .sync()
          .set(SlotKeys.bytes(slot.slot.prefix() + key + slot.owner.encoded()), new byte[] {'x'});
    }
    assertTrue(SessionScripts.reassert(slot.redis, slot.slot, slot.owner, slot.second));
    assertEquals(slot.second.text(), slot.own());
    assertEquals(Set.of(), toTell(slot.second));
  }

  /** The open of the second was lost in a failover, the close of the first was not. */
  @Test
  void aSessionThatIsToldAgainIsNotClosedWithTheOneBefore() {
    slot.open(slot.first);
    slot.commit(slot.first, "item:1", row(5, "a"), 9_000_000_000_000L);
    SessionScripts.close(slot.redis, slot.slot, slot.owner, slot.first);
    assertEquals(
        true,
        slot.redis.sync().sismember(slot.slot.closing(), SlotKeys.bytes(slot.owner.encoded())));
    SessionScripts.reassert(slot.redis, slot.slot, slot.owner, slot.second);
    assertEquals(
        false,
        slot.redis.sync().sismember(slot.slot.closing(), SlotKeys.bytes(slot.owner.encoded())));
    assertEquals(-1, slot.ownLifeMillis());
  }

  @Test
  void readSeesDirtyAndClaimedOfTheOwningSessionOnly() {
    slot.open(slot.first);
    slot.open(slot.second);
    slot.commit(slot.first, "item:1", row(9, "late"), 0);
    slot.commit(slot.second, "item:2", row(3, "b"), 0);
    assertEquals(
        List.of("item:2"),
        LookupScript.unflushed(slot.redis, slot.slot, slot.owner).stream()
            .map(EncodedRow::key)
            .toList());
  }

  @Test
  void aKeyThatIsNoHashIsNamedAndNothingIsChanged() {
    slot.open(slot.first);
    byte[] broken = slot.slot.dirty(slot.owner, slot.first);
    slot.redis.sync().set(broken, SlotFixture.bytes("no hash"));
    List<String> before = slot.keys();
    GameQueueException refused =
        assertThrows(GameQueueException.class, () -> slot.open(slot.second));
    assertTrue(String.valueOf(refused.getMessage()).contains(SlotFixture.text(broken)));
    assertEquals(before, slot.keys());
    assertEquals(slot.first.text(), slot.own());
  }
}
