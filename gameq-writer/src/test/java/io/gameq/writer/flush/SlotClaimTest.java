package io.gameq.writer.flush;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.gameq.agent.RepeatedWarnings;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.flush.FlushPlan;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.mysql.flush.GuardedWrites;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.Slots;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.redis.script.SessionScripts;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rows.RowCodec;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.gameq.writer.flush.SlotSchedule.SlotShare;
import io.gameq.writer.flush.Stage.ClaimDue;
import io.gameq.writer.flush.Stage.Decode;
import io.gameq.writer.flush.Stage.End;
import io.gameq.writer.flush.Stage.GiveBack;
import io.gameq.writer.pause.Pauses;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.sql.SQLException;
import java.time.Clock;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What one turn claims of several slots. */
class SlotClaimTest {
  private static final int SLOTS = 4;
  private static final int MOST_ROWS = 100;
  private static final SessionId SESSION = new SessionId(1, "aaaaaaaa00000001");
  private static final ClaimScript.Bounds BOUNDS =
      new ClaimScript.Bounds(10, MOST_ROWS, 1 << 20, 60_000);

  private final String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);
  private final Slots slots = new Slots(namespace, SLOTS);
  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.redisUri()));
  private final RedisConnection redis = connector.open();
  private final MySqlServer server = GameDatabase.create("claiming").server();
  private final MySql mysql = MySqlPool.open(server.as(Role.WRITER).config(2), "claiming");
  private final SlotTurn turn = newTurn();

  SlotClaimTest() throws SQLException {}

  @AfterEach
  void close() {
    mysql.close();
    redis.close();
    connector.close();
  }

  private SlotTurn newTurn() {
    FlushPlan.Patience patience = WriterOptions.DEFAULT_PATIENCE;
    FlushBlockers blockers = new FlushBlockers(() -> true, () -> Pauses.NONE);
    return new SlotTurn(
        new SlotTurn.TurnContext(
            new WriterOptions(
                namespace,
                SLOTS,
                "w1",
                1,
                BOUNDS,
                patience,
                WriterOptions.DEFAULT_TOMBSTONES_KEPT,
                WriterOptions.NO_CEILING),
            slots,
            new OwnerTable(mysql),
            new OwnerReader(mysql),
            new RowDecoder(
                () -> CatalogReader.read(mysql),
                new RowCodec((table, layout) -> null, Clock.systemUTC()),
                blockers),
            new FlushTransaction(mysql, GuardedWrites.on(mysql), patience),
            blockers,
            new FlushPace(BOUNDS, 1, 0, System::nanoTime),
            new WriterStats(new SimpleMeterRegistry()),
            new RepeatedWarnings(10)),
        new ControlConnection(connector),
        new PrimaryConnector.Opened(redis, "", "", 0, 0),
        null,
        true);
  }

  /** An owner of a slot with so many rows that are due. */
  private OwnerId dirty(int slot, int rows) {
    OwnerId owner = ownerOf(slot);
    SessionScripts.open(redis, slots.get(slot), owner, SESSION, 0, false);
    for (int row = 0; row < rows; row++) {
      redis
          .sync()
          .hset(
              slots.get(slot).dirty(owner, SESSION),
              ("item:" + row).getBytes(US_ASCII),
              "0000000000000001pvalue".getBytes(US_ASCII));
    }
    String member = owner.encoded() + ":" + SESSION.text();
    redis.sync().zadd(slots.get(slot).due(), 0, member.getBytes(US_ASCII));
    return owner;
  }

  private static OwnerId ownerOf(int slot) {
    return IntStream.iterate(1, i -> i + 1)
        .mapToObj(i -> OwnerId.of("player:" + i))
        .filter(owner -> owner.slot(SLOTS) == slot)
        .findFirst()
        .orElseThrow();
  }

  /** Lets the lease of a slot's owner run out so often. */
  private void lapse(int slot, int times) {
    ClaimScript dying =
        new ClaimScript(
            "dying", new ClaimScript.Bounds(BOUNDS.owners(), BOUNDS.rows(), BOUNDS.bytes(), 0));
    List<ClaimScript.Share> all =
        List.of(new ClaimScript.Share(slots.get(slot), BOUNDS.owners(), BOUNDS.rows()));
    for (int lapses = 1; lapses <= times; lapses++) {
      assertEquals(1, dying.callEach(redis, all, false).get(0).get().claims().size());
      await().atMost(LONG).until(() -> !ClaimScript.reap(redis, slots.get(slot)).isEmpty());
    }
  }

  private Stage claim() {
    List<SlotShare> shares =
        IntStream.range(0, SLOTS).mapToObj(slot -> new SlotShare(slot, 10, MOST_ROWS)).toList();
    return turn.next(new ClaimDue(shares, false));
  }

  private List<Long> waits() {
    return IntStream.range(0, SLOTS).mapToObj(slot -> turn.claimed(slot).waitMillis()).toList();
  }

  private static List<OwnerId> owners(List<Claim> claims) {
    return claims.stream().map(Claim::owner).toList();
  }

  @Test
  void ownersOfSeveralSlotsAreFlushedTogether() {
    OwnerId one = dirty(1, 3);
    OwnerId other = dirty(3, 2);
    Decode decoding = assertInstanceOf(Decode.class, claim());
    assertEquals(List.of(one, other), owners(decoding.batch()));
    assertEquals(new End(), decoding.then());
    assertEquals(List.of(-1L, -1L, -1L, -1L), waits());
  }

  @Test
  void whereNobodyIsDueTheTurnEnds() {
    assertEquals(new End(), claim());
  }

  @Test
  void whoMayKillItsWritersIsFlushedAloneAfterTheOthersAndOnlyOne() {
    OwnerId first = dirty(0, 1);
    lapse(0, 2);
    OwnerId second = dirty(1, 1);
    lapse(1, 2);
    OwnerId once = dirty(2, 1);
    lapse(2, 1);
    OwnerId never = dirty(3, 1);
    GiveBack givingBack = assertInstanceOf(GiveBack.class, claim());
    assertEquals(List.of(second), owners(givingBack.batch()));
    Decode others = assertInstanceOf(Decode.class, givingBack.then());
    assertEquals(List.of(once, never), owners(others.batch()));
    Decode alone = assertInstanceOf(Decode.class, others.then());
    assertEquals(List.of(first), owners(alone.batch()));
    assertEquals(new End(), alone.then());
  }

  @Test
  void aSlotThatCannotBeClaimedFromDoesNotDisturbTheOthers() {
    OwnerId one = dirty(0, 1);
    OwnerId other = dirty(2, 1);
    redis.sync().set(slots.get(1).ready(), "somebody else's".getBytes(US_ASCII));
    Decode decoding = assertInstanceOf(Decode.class, claim());
    assertEquals(List.of(one, other), owners(decoding.batch()));
    assertEquals(
        List.of(1),
        IntStream.range(0, SLOTS).filter(slot -> turn.failed(slot) != null).boxed().toList());
    assertEquals(List.of(-1L, 0L, -1L, -1L), waits());
  }
}
