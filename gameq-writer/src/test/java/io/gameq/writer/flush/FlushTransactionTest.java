package io.gameq.writer.flush;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.FlushPlan;
import io.gameq.mysql.flush.FlushPlan.OwnerRows;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.mysql.flush.FlushTransaction.Committed;
import io.gameq.mysql.flush.FlushTransaction.Outage;
import io.gameq.mysql.flush.FlushTransaction.Outcome;
import io.gameq.mysql.flush.GuardedWrites;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rows.CanonicalRow;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowHeader;
import io.gameq.rows.RowHeader.Handover;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class FlushTransactionTest {
  private final GameDatabase database = database();
  private final MySqlServer server = database.server();
  private final MySql mysql = MySqlPool.openForFlushes(server.as(Role.WRITER).config(6));
  private final Catalog catalog = CatalogReader.read(mysql);
  private final FlushTransaction flush =
      new FlushTransaction(
          mysql, GuardedWrites.on(mysql), new FlushPlan.Patience(3, 0, 0, 15, 100));
  private final OwnerTable owners = new OwnerTable(mysql);
  private static final RowCodec CODEC = new RowCodec((table, layout) -> null, Clock.systemUTC());

  private final OwnerId player = OwnerId.of("player:1");
  private final OwnerId other = OwnerId.of("player:2");
  private final SessionId session = owners.raise(player, "aaaaaaaa00000001", "n1", 0);
  private final SessionId otherSession = owners.raise(other, "aaaaaaaa00000002", "n1", 0);

  private static GameDatabase database() {
    try {
      GameDatabase database =
          GameDatabase.create("flush")
              .table(
                  "item",
                  "player",
                  "player_id",
                  "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, count INT NOT NULL")
              .table(
                  "egg",
                  "player",
                  "player_id",
                  "id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, player_id BIGINT NOT NULL")
              .table(
                  "hero",
                  "player",
                  "player_id",
                  "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, name VARCHAR(20) NOT"
                      + " NULL, UNIQUE KEY hero_name (name)")
              .table(
                  "stack",
                  "player",
                  "player_id",
                  "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, slot TINYINT NOT"
                      + " NULL, note VARCHAR(9) NOT NULL DEFAULT 'x', UNIQUE KEY stack_slot"
                      + " (player_id, slot)")
              .table(
                  "bag",
                  "player",
                  "player_id",
                  "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, inside BIGINT,"
                      + " CONSTRAINT bag_inside FOREIGN KEY (inside) REFERENCES bag (id)")
              .table(
                  "skill",
                  "player",
                  "player_id",
                  "hero_id BIGINT NOT NULL, no INT NOT NULL, player_id BIGINT NOT NULL, PRIMARY KEY"
                      + " (hero_id, no), CONSTRAINT skill_hero FOREIGN KEY (hero_id) REFERENCES"
                      + " hero (id)")
              .table(
                  "chest",
                  "player",
                  "player_id",
                  "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, inside BIGINT, hotkey"
                      + " CHAR(1) NOT NULL, weight INT NOT NULL CHECK (weight < 10), UNIQUE KEY"
                      + " chest_hotkey (player_id, hotkey), CONSTRAINT chest_inside FOREIGN KEY"
                      + " (inside) REFERENCES chest (id) ON DELETE CASCADE")
              .table(
                  "gq_new",
                  "player",
                  "player_id",
                  "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL")
              .table("guild", "guild", "id", "id BIGINT NOT NULL PRIMARY KEY, leader BIGINT")
              .table(
                  "member",
                  "player",
                  "player_id",
                  "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, guild_id BIGINT NOT"
                      + " NULL, CONSTRAINT member_guild FOREIGN KEY (guild_id) REFERENCES guild"
                      + " (id)");
      database
          .server()
          .execute(
              "ALTER TABLE guild ADD CONSTRAINT guild_leader FOREIGN KEY (leader) REFERENCES member"
                  + " (id)");
      return database;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @AfterEach
  void close() {
    mysql.close();
  }

  private RowChange item(long version, int count) {
    return put(player, version, "item", Map.of("id", 1, "player_id", 1, "count", count));
  }

  private RowChange hero(long version, int id, String name) {
    return put(player, version, "hero", Map.of("id", id, "player_id", 1, "name", name));
  }

  private RowChange put(OwnerId owner, long version, String table, Map<String, ?> columns) {
    Table of = catalog.table(table);
    RowImage image =
        new RowImage(of, RowOp.PUT, version, CanonicalRow.of(of, columns, Clock.systemUTC()));
    return new RowChange(
        owner, image.rowKey(), image, CODEC.encode(of, image.op(), image.values()));
  }

  private RowChange delete(OwnerId owner, long version, String table, Object... key) {
    Table of = catalog.table(table);
    RowImage image = new RowImage(of, RowOp.DELETE, version, CanonicalRow.key(of, key));
    return new RowChange(
        owner, image.rowKey(), image, CODEC.encode(of, image.op(), image.values()));
  }

  private static OwnerRows rows(OwnerId owner, SessionId session, RowChange... rows) {
    return rows(owner, session, 1, rows);
  }

  private static OwnerRows rows(OwnerId owner, SessionId session, int attempts, RowChange... rows) {
    return new OwnerRows(owner, session, attempts, attempts, List.of(rows), List.of());
  }

  private Outcome flush(RowChange... rows) {
    return flush.flush(List.of(rows(player, session, rows)));
  }

  private String query(String sql) throws SQLException {
    return String.valueOf(server.queryText(sql));
  }

  @Test
  void flushesTheSessionThatIsOpenUntilALaterOneIs() throws SQLException {
    assertTrue(owners.markOpen(player, session));
    SessionId failed = owners.raise(player, "bbbbbbbb00000001", "n2", 0);
    SessionId opening = owners.raise(player, "bbbbbbbb00000002", "n2", 0);
    assertEquals(List.of(), committed(flush(item(10, 1))).notOwned());
    assertEquals(
        List.of(), committed(flush.flush(List.of(rows(player, opening, item(20, 2))))).notOwned());
    assertEquals(
        1, committed(flush.flush(List.of(rows(player, failed, item(30, 3))))).notOwned().size());
    assertFalse(owners.markOpen(player, failed));
    assertTrue(owners.markOpen(player, opening));
    assertEquals(1, committed(flush(item(40, 4))).notOwned().size());
    assertEquals("2", query("SELECT count FROM item"));
  }

  private static Committed committed(Outcome outcome) {
    return assertInstanceOf(Committed.class, outcome);
  }

  @Test
  void neverLetsAnOlderVersionReplaceANewerOne() throws SQLException {
    flush(item(20, 2));
    assertInstanceOf(Committed.class, flush(item(10, 1)));
    assertEquals("2", query("SELECT count FROM item"));
    assertEquals("20", query("SELECT gq_version FROM item"));
    flush(item(30, 3));
    assertEquals("3", query("SELECT count FROM item"));
    assertEquals("30", query("SELECT gq_version FROM item"));
  }

  @Test
  void aZeroKeyWaitsWhereAProxyDroppedWhatKeepsIt() throws SQLException {
    try (MySql one = MySqlPool.openForFlushes(server.as(Role.WRITER).config(1))) {
      FlushTransaction flushOne =
          new FlushTransaction(
              one, GuardedWrites.on(one), new FlushPlan.Patience(3, 0, 0, 15, 100));
      RowChange zero = put(player, 10, "egg", Map.of("id", 0, "player_id", 1));
      RowChange other = put(player, 11, "egg", Map.of("id", 5, "player_id", 1));
      try (Connection connection = one.connection();
          Statement statement = connection.createStatement()) {
        statement.execute("SET SESSION sql_mode = 'STRICT_TRANS_TABLES'");
      }
      assertInstanceOf(Committed.class, flushOne.flush(List.of(rows(player, session, other))));
      Outage outage =
          assertInstanceOf(
              Outage.class, flushOne.flush(List.of(rows(player, session, zero, other))));
      assertTrue(outage.reason().contains("NO_AUTO_VALUE_ON_ZERO"), outage::reason);
      assertEquals("5", query("SELECT GROUP_CONCAT(id) FROM egg"));
      assertInstanceOf(
          Committed.class,
          flushOne.flush(List.of(rows(player, session, zero))),
          "the next connection is a fresh one");
      assertEquals("0,5", query("SELECT GROUP_CONCAT(id) FROM egg"));
    }
  }

  @Test
  void aLateWriteDoesNotBringADeletedRowBack() throws SQLException {
    flush(item(10, 1));
    flush(delete(player, 20, "item", 1));
    assertInstanceOf(Committed.class, flush(item(15, 9)));
    assertEquals("0", query("SELECT COUNT(*) FROM item"));
    assertEquals(
        "20",
        query("SELECT version FROM gameq_tombstone WHERE table_name = 'item' AND row_key = '1'"));
  }

  @Test
  void aLateDeleteDoesNotRemoveARecreatedRow() throws SQLException {
    flush(delete(player, 20, "item", 1));
    flush(item(30, 3));
    flush(delete(player, 25, "item", 1));
    assertEquals("3", query("SELECT count FROM item"));
  }

  @Test
  void ofOneRowInTwoOwnersOnlyTheNewestImageCounts() throws SQLException {
    RowChange moved = put(player, 10, "item", Map.of("id", 1, "player_id", 2, "count", 5));
    RowChange taken = put(other, 11, "item", Map.of("id", 1, "player_id", 2, "count", 6));
    flush.flush(List.of(rows(other, otherSession, taken), rows(player, session, moved)));
    assertEquals("6", query("SELECT count FROM item"));
  }

  /** Player 1 gave item 1 and got item 2, to and from different sessions of player 2. */
  @Test
  void ownersThatWaitForEachOthersHalvesOfTwoTradesAreBothFlushed() throws SQLException {
    SessionId of1 = session;
    SessionId earlierOf2 = otherSession;
    SessionId of2 = open(other, "bbbbbbbb00000002");
    SessionId again1 = open(player, "bbbbbbbb00000001");
    RowChange gave1 = traded(player, RowOp.MOVED, 10, 1, 2, new Handover(false, other, of2, 10));
    RowChange got1 = traded(other, RowOp.PUT, 10, 1, 2, new Handover(true, player, of1, 10));
    RowChange got2 = traded(player, RowOp.PUT, 11, 2, 1, new Handover(true, other, earlierOf2, 11));
    RowChange gave2 = traded(other, RowOp.MOVED, 11, 2, 1, new Handover(false, player, of1, 11));
    OwnerRows first = rows(player, again1, gave1, got2);
    OwnerRows second = rows(other, of2, got1, gave2);
    assertEquals(1, committed(flush.flush(List.of(first))).heldBack().size());
    assertEquals(List.of(), committed(flush.flush(List.of(second))).heldBack());
    assertEquals(List.of(), committed(flush.flush(List.of(first))).heldBack());
    assertEquals("1 2,2 1", query("SELECT GROUP_CONCAT(id, ' ', player_id ORDER BY id) FROM item"));
    assertEquals("0", query("SELECT COUNT(*) FROM gameq_handover"));
  }

  private SessionId open(OwnerId owner, String nonce) {
    SessionId opened = owners.raise(owner, nonce, "n2", 0);
    assertTrue(owners.markOpen(owner, opened));
    return opened;
  }

  private RowChange traded(
      OwnerId owner, RowOp op, long version, int id, int playerId, Handover handover) {
    Table of = catalog.table("item");
    byte[] row =
        RowHeader.withHandovers(
            CODEC.encode(
                of,
                op,
                CanonicalRow.of(
                    of, Map.of("id", id, "player_id", playerId, "count", 1), Clock.systemUTC())),
            op,
            List.of(handover));
    RowHeader.setVersion(row, version);
    RowImage image = CODEC.decode(of, row);
    return new RowChange(owner, image.rowKey(), image, row);
  }

  @Test
  void anOwnerWithANewerSessionIsLeftOutAndTheOthersAreWritten() throws SQLException {
    owners.raise(player, "bbbbbbbb00000001", "n2", 0);
    Committed committed =
        assertInstanceOf(
            Committed.class,
            flush.flush(
                List.of(
                    rows(player, session, item(10, 1)),
                    rows(
                        other,
                        otherSession,
                        put(other, 10, "item", Map.of("id", 2, "player_id", 2, "count", 7))))));
    assertEquals(List.of(player), committed.notOwned().stream().map(OwnerRows::owner).toList());
    assertEquals("2", query("SELECT GROUP_CONCAT(id) FROM item"));
  }

  @Test
  void sessionsAreComparedByNonceToo() throws SQLException {
    SessionId sameEpoch = new SessionId(session.epoch(), "cccccccc00000009");
    Committed committed =
        assertInstanceOf(
            Committed.class, flush.flush(List.of(rows(player, sameEpoch, item(10, 1)))));
    assertEquals(1, committed.notOwned().size());
    assertEquals("0", query("SELECT COUNT(*) FROM item"));
  }

  @Test
  void aTakenUniqueValueIsRefusedAndNeverChangesTheOtherRow() throws SQLException {
    flush(hero(10, 1, "Ann"));
    assertEquals(1, assertInstanceOf(Committed.class, flush(hero(20, 2, "Ann"))).heldBack().size());
    assertEquals(
        "1 Ann 10", query("SELECT GROUP_CONCAT(id, ' ', name, ' ', gq_version) FROM hero"));
  }

  @Test
  void aUniqueValueThatTheSameFlushGivesUpMayBeTaken() throws SQLException {
    flush(hero(10, 1, "Ann"));
    assertInstanceOf(Committed.class, flush(delete(player, 20, "hero", 1), hero(20, 2, "Ann")));
    assertEquals("2", query("SELECT GROUP_CONCAT(id) FROM hero"));
  }

  @Test
  void aUniqueValueThatAnotherRowOfTheFlushGivesUpMayBeTaken() throws SQLException {
    flush(hero(10, 5, "Rex"));
    assertInstanceOf(Committed.class, flush(hero(20, 5, "Max"), hero(20, 3, "Rex")));
    assertEquals("3 Rex,5 Max", query("SELECT GROUP_CONCAT(id, ' ', name ORDER BY id) FROM hero"));
  }

  @Test
  void parentsAreInsertedBeforeChildrenAndDeletedAfterThem() throws SQLException {
    RowChange skill = put(player, 10, "skill", Map.of("hero_id", 1, "no", 1, "player_id", 1));
    assertInstanceOf(Committed.class, flush(skill, hero(10, 1, "Ann")));
    assertEquals("1", query("SELECT COUNT(*) FROM skill"));
    assertInstanceOf(
        Committed.class, flush(delete(player, 20, "hero", 1), delete(player, 20, "skill", 1, 1)));
    assertEquals("0", query("SELECT COUNT(*) FROM hero"));
  }

  @Test
  void aPutIsNotBroughtBackByRunningBesideTheDeleteOfAnotherOwner() throws Exception {
    // The delete's transaction has written its tombstone and is held before its DELETE: the put
    // must wait for it, and yield.
    try (Connection deleting = server.connect()) {
      deleting.setAutoCommit(false);
      try (Statement statement = deleting.createStatement()) {
        statement.execute(
            "INSERT INTO gameq_tombstone VALUES ('item', '1', 'player%3A2', 20, UTC_TIMESTAMP(3))");
      }
      CompletableFuture<Outcome> put = CompletableFuture.supplyAsync(() -> flush(item(10, 1)));
      org.awaitility.Awaitility.await().atMost(LONG).until(server::hasLockWait);
      deleting.commit();
      assertInstanceOf(Committed.class, put.get(LONG.toSeconds(), TimeUnit.SECONDS));
    }
    assertEquals("0", query("SELECT COUNT(*) FROM item"));
  }

  @Test
  void secondFlushOfAnOwnerWaitsForTheFirst() throws Exception {
    try (Connection flushing = server.connect()) {
      flushing.setAutoCommit(false);
      try (Statement statement = flushing.createStatement()) {
        statement
            .executeQuery("SELECT * FROM gameq_owner WHERE owner = 'player%3A1' FOR UPDATE")
            .close();
      }
      CompletableFuture<Outcome> second = CompletableFuture.supplyAsync(() -> flush(item(10, 1)));
      org.awaitility.Awaitility.await().atMost(LONG).until(server::hasLockWait);
      assertTrue(!second.isDone());
      flushing.rollback();
      assertInstanceOf(Committed.class, second.get(LONG.toSeconds(), TimeUnit.SECONDS));
    }
  }

  @Test
  void thousandsOfRowsAreWrittenInStatementsOfFewSizes() throws SQLException {
    RowChange[] rows = new RowChange[1_777];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = put(player, 10, "item", Map.of("id", rows.length - i, "player_id", 1, "count", i));
    }
    assertInstanceOf(Committed.class, flush(rows));
    assertEquals("1777", query("SELECT COUNT(*) FROM item"));
  }

  @Test
  void anOutageIsToldApartFromARefusedRow() throws SQLException {
    assertEquals(1, assertInstanceOf(Committed.class, flush(orphan(10))).heldBack().size());
    mysql.close();
    assertInstanceOf(FlushTransaction.Outage.class, flush(item(10, 1)));
  }

  // --- rows of others

  private RowChange itemOf(OwnerId owner, long version, int id, int count) {
    int its = Integer.parseInt(owner.key());
    return put(owner, version, "item", Map.of("id", id, "player_id", its, "count", count));
  }

  @Test
  void aPutOfAnotherOwnersRowIsSetAsideAndTheOthersAreWritten() throws SQLException {
    flush(itemOf(player, 10, 1, 1), itemOf(player, 10, 2, 2));
    Committed committed =
        assertInstanceOf(
            Committed.class,
            flush.flush(
                List.of(
                    rows(
                        other,
                        otherSession,
                        itemOf(other, 20, 1, 9),
                        itemOf(other, 20, 3, 9),
                        itemOf(other, 20, 4, 9)))));
    assertEquals(
        "1 1 1,2 1 2,3 2 9,4 2 9",
        query("SELECT GROUP_CONCAT(CONCAT_WS(' ', id, player_id, count) ORDER BY id) FROM item"));
    assertEquals("1", committed.written().get(0).setAside().get(0).rowKey());
  }

  @Test
  void ofTwoOwnersInOneFlushNeitherWritesTheOthersRow() throws SQLException {
    flush(itemOf(player, 10, 1, 1));
    flush.flush(
        List.of(
            rows(player, session, itemOf(player, 20, 1, 2)),
            rows(other, otherSession, itemOf(other, 30, 1, 9), delete(other, 30, "item", 2))));
    assertEquals("1 2", query("SELECT CONCAT_WS(' ', player_id, count) FROM item"));
    assertEquals("1", query("SELECT GROUP_CONCAT(row_key) FROM gameq_dead_letter"));
  }

  @Test
  void aDeleteOfAnotherOwnersRowIsSetAsideAndLeavesNoTombstone() throws SQLException {
    flush(itemOf(player, 10, 1, 1));
    flush.flush(List.of(rows(other, otherSession, delete(other, 20, "item", 1))));
    assertEquals("1", query("SELECT COUNT(*) FROM item"));
    assertEquals("0", query("SELECT COUNT(*) FROM gameq_tombstone"));
    assertEquals("1", query("SELECT GROUP_CONCAT(row_key) FROM gameq_dead_letter"));
  }

  @Test
  void aHalfThatWaitedInVainIsNoDeadLetterOnceTheOtherHalfIsFlushed() throws SQLException {
    flush(itemOf(player, 10, 1, 1));
    owners.markOpen(player, session);
    SessionId successor = open(player, "bbbbbbbb00000001");
    RowChange given =
        traded(player, RowOp.MOVED, 20, 1, 2, new Handover(false, other, otherSession, 20));
    RowChange got = traded(other, RowOp.PUT, 20, 1, 2, new Handover(true, player, session, 20));
    flush.flush(List.of(rows(other, otherSession, 3, got)));
    assertEquals(
        "2:1:-1",
        query(
            "SELECT GROUP_CONCAT(CONCAT_WS(':', SUBSTR(owner, -1), row_key, error_code)) FROM"
                + " gameq_dead_letter"));
    assertEquals("1 1", query("SELECT CONCAT_WS(' ', player_id, count) FROM item"));
    flush.flush(List.of(rows(player, successor, given)));
    assertEquals("2 1", query("SELECT CONCAT_WS(' ', player_id, count) FROM item"));
    assertEquals("0", query("SELECT COUNT(*) FROM gameq_dead_letter"));
  }

  @Test
  void aHalfThatIsOvertakenWhenItComesLeavesTheOtherHalfADeadLetter() throws SQLException {
    flush(itemOf(player, 10, 1, 1));
    owners.markOpen(player, session);
    SessionId successor = open(player, "bbbbbbbb00000001");
    RowChange given =
        traded(player, RowOp.MOVED, 20, 1, 2, new Handover(false, other, otherSession, 20));
    RowChange got = traded(other, RowOp.PUT, 20, 1, 2, new Handover(true, player, session, 20));
    flush.flush(List.of(rows(other, otherSession, 3, got)));
    RowChange goesOn = itemOf(player, 30, 1, 3); // the successor knows nothing of the trade
    flush.flush(List.of(rows(player, successor, goesOn)));
    flush.flush(List.of(rows(player, successor, given)));
    assertEquals("1 3", query("SELECT CONCAT_WS(' ', player_id, count) FROM item"));
    assertEquals(
        "2:1:-1",
        query(
            "SELECT GROUP_CONCAT(CONCAT_WS(':', SUBSTR(owner, -1), row_key, error_code)) FROM"
                + " gameq_dead_letter"));
  }

  @Test
  void aForeignPutStaysADeadLetterWhenTheRowIsMovedLater() throws SQLException {
    OwnerId third = OwnerId.of("player:3");
    SessionId ofThird = open(third, "cccccccc00000001");
    flush(itemOf(player, 10, 1, 1));
    flush.flush(List.of(rows(third, ofThird, itemOf(third, 15, 1, 9))));
    RowChange given =
        traded(player, RowOp.MOVED, 20, 1, 2, new Handover(false, other, otherSession, 20));
    flush.flush(List.of(rows(player, session, given)));
    assertEquals("2 1", query("SELECT CONCAT_WS(' ', player_id, count) FROM item"));
    assertEquals("player%3A3", query("SELECT GROUP_CONCAT(owner) FROM gameq_dead_letter"));
  }

  // --- rows that depend on each other

  private RowChange stack(long version, int id, int slot) {
    return put(player, version, "stack", Map.of("id", id, "player_id", 1, "slot", slot));
  }

  private RowChange bag(long version, int id, int inside) {
    return put(player, version, "bag", Map.of("id", id, "player_id", 1, "inside", inside));
  }

  private RowChange bag(long version, int id) {
    return put(player, version, "bag", Map.of("id", id, "player_id", 1));
  }

  @Test
  void rowsThatSwapAUniqueValueAreBothWritten() throws SQLException {
    flush(hero(10, 1, "ann"), hero(10, 2, "bob"), stack(10, 1, 1), stack(10, 2, 2));
    Outcome outcome =
        flush(hero(20, 1, "bob"), hero(20, 2, "ann"), stack(20, 1, 2), stack(20, 2, 1));
    assertEquals(List.of(), committed(outcome).heldBack());
    assertEquals(
        "bob 20,ann 20", query("SELECT GROUP_CONCAT(name, ' ', gq_version ORDER BY id) FROM hero"));
    assertEquals("2,1", query("SELECT GROUP_CONCAT(slot ORDER BY id) FROM stack"));
  }

  @Test
  void aRotationBesideAChainAndARowThatIsRefused() throws SQLException {
    flush(stack(10, 1, 1), stack(10, 2, 2), stack(10, 3, 3), stack(10, 4, 4), stack(10, 5, 5));
    flush.flush(
        List.of(
            rows(
                player,
                session,
                3,
                stack(20, 1, 2),
                stack(20, 2, 3),
                stack(20, 3, 1),
                stack(20, 4, 6), // gives 4 up
                stack(20, 7, 4),
                stack(20, 8, 5)))); // which 5 keeps
    assertEquals(
        "1:2 2:3 3:1 4:6 5:5 7:4",
        query("SELECT GROUP_CONCAT(id, ':', slot ORDER BY id SEPARATOR ' ') FROM stack"));
    assertEquals("8", query("SELECT GROUP_CONCAT(row_key) FROM gameq_dead_letter"));
  }

  @Test
  void rowsInANewRowOfTheSameTableAreWrittenWithIt() throws SQLException {
    Outcome outcome = flush(bag(10, 5, 900), bag(10, 6, 5), bag(10, 7, 6), bag(10, 900));
    assertEquals(List.of(), committed(outcome).heldBack());
    assertEquals("4", query("SELECT COUNT(*) FROM bag"));
    flush(
        delete(player, 20, "bag", 5),
        delete(player, 20, "bag", 6),
        delete(player, 20, "bag", 7),
        delete(player, 20, "bag", 900));
    assertEquals("0", query("SELECT COUNT(*) FROM bag"));
    assertEquals("4", query("SELECT COUNT(*) FROM gameq_tombstone"));
  }

  @Test
  void rowsThatReferToEachOtherInACircleAreWrittenAndDeletedTogether() throws SQLException {
    flush.flush(
        List.of(
            rows(player, session, 3, bag(10, 1, 2), bag(10, 2, 3), bag(10, 3, 1), bag(10, 4, 77))));
    assertEquals(
        "1:2 10,2:3 10,3:1 10",
        query("SELECT GROUP_CONCAT(id, ':', inside, ' ', gq_version ORDER BY id) FROM bag"));
    flush(delete(player, 20, "bag", 1), delete(player, 20, "bag", 2), delete(player, 20, "bag", 3));
    assertEquals("0", query("SELECT COUNT(*) FROM bag"));
    assertEquals("3", query("SELECT COUNT(*) FROM gameq_tombstone"));
  }

  private RowChange chest(long version, int id, int inside, String hotkey, int weight) {
    Map<String, Object> columns = new HashMap<>();
    columns.put("id", id);
    columns.put("player_id", 1);
    columns.put("inside", inside == 0 ? null : inside);
    columns.put("hotkey", hotkey);
    columns.put("weight", weight);
    return put(player, version, "chest", columns);
  }

  @Test
  void aRowThatIsRefusedWhereItWasToBeMovedIsNotTakenAlongByADelete() throws SQLException {
    flush(chest(10, 1, 0, "a", 1), chest(10, 2, 0, "b", 1), chest(10, 3, 1, "c", 1));
    flush.flush(
        List.of(
            rows(player, session, 3, chest(20, 3, 2, "c", 50), delete(player, 20, "chest", 1))));
    assertEquals("1,2,3", query("SELECT GROUP_CONCAT(id ORDER BY id) FROM chest"));
    assertEquals(
        "1,3", query("SELECT GROUP_CONCAT(row_key ORDER BY row_key) FROM gameq_dead_letter"));
  }

  @Test
  void valuesOfOneCharacterAreSwapped() throws SQLException {
    flush(chest(10, 1, 0, "a", 1), chest(10, 2, 0, "b", 1));
    flush(chest(20, 1, 0, "b", 1), chest(20, 2, 0, "a", 1));
    assertEquals("b,a", query("SELECT GROUP_CONCAT(hotkey ORDER BY id) FROM chest"));
  }

  @Test
  void aNewGuildAndItsNewLeaderAreWrittenAndDeletedTogether() throws SQLException {
    OwnerId guild = OwnerId.of("guild:1");
    SessionId guilds = owners.raise(guild, "aaaaaaaa00000003", "n1", 0);
    Outcome made =
        flush.flush(
            List.of(
                rows(guild, guilds, put(guild, 10, "guild", Map.of("id", 1, "leader", 7))),
                rows(player, session, member(10, player, 7, 1)),
                rows(other, otherSession, 9, member(10, other, 8, 99))));
    assertEquals(3, committed(made).written().size());
    assertEquals("7 10", query("SELECT CONCAT(leader, ' ', gq_version) FROM guild"));
    assertEquals("7", query("SELECT GROUP_CONCAT(id) FROM member"));
    assertEquals("8", query("SELECT GROUP_CONCAT(row_key) FROM gameq_dead_letter"));
    Outcome ended =
        flush.flush(
            List.of(
                rows(guild, guilds, delete(guild, 20, "guild", 1)),
                rows(player, session, delete(player, 20, "member", 7))));
    assertEquals(2, committed(ended).written().size());
    assertEquals("0", query("SELECT COUNT(*) FROM guild"));
    assertEquals("0", query("SELECT COUNT(*) FROM member"));
  }

  @Test
  void rowsThatDependOnEachOtherStayDeletedWhenTheyComeAgain() throws SQLException {
    OwnerId guild = OwnerId.of("guild:1");
    SessionId guilds = owners.raise(guild, "aaaaaaaa00000003", "n1", 0);
    List<OwnerRows> made =
        List.of(
            rows(guild, guilds, 3, put(guild, 10, "guild", Map.of("id", 1, "leader", 7))),
            rows(
                player,
                session,
                3,
                member(10, player, 7, 1),
                bag(10, 950, 900),
                bag(10, 900),
                bag(10, 1, 2),
                bag(10, 2, 1),
                hero(10, 1, "ann"),
                put(player, 10, "skill", Map.of("hero_id", 1, "no", 1, "player_id", 1))));
    flush.flush(made);
    assertEquals("4", query("SELECT COUNT(*) FROM bag"));
    flush.flush(
        List.of(
            rows(guild, guilds, delete(guild, 20, "guild", 1)),
            rows(
                player,
                session,
                delete(player, 20, "member", 7),
                delete(player, 20, "bag", 950),
                delete(player, 20, "bag", 900),
                delete(player, 20, "bag", 1),
                delete(player, 20, "bag", 2),
                delete(player, 20, "hero", 1),
                delete(player, 20, "skill", 1, 1))));
    List<OwnerRows> again =
        made.stream()
            .map(of -> rows(of.owner(), of.session(), of.rows().toArray(RowChange[]::new)))
            .toList();
    FlushTransaction.Committed outcome = committed(flush.flush(again));
    assertEquals(List.of(), outcome.heldBack());
    assertEquals(2, outcome.written().size());
    for (String table : List.of("guild", "member", "bag", "hero", "skill", "gameq_dead_letter")) {
      assertEquals("0", query("SELECT COUNT(*) FROM " + table), table);
    }
  }

  private RowChange member(long version, OwnerId owner, int id, int guild) {
    return put(
        owner,
        version,
        "member",
        Map.of("id", id, "player_id", Long.parseLong(owner.key()), "guild_id", guild));
  }

  // --- refused rows

  private RowChange orphan(long version) {
    return put(player, version, "skill", Map.of("hero_id", 404, "no", 1, "player_id", 1));
  }

  @Test
  void oneRefusedRowOfAThousandIsFoundInFewStatements() throws SQLException {
    server.execute("ALTER TABLE item ADD CONSTRAINT few CHECK (count < 5000)");
    RowChange[] rows = new RowChange[1_000];
    for (int i = 0; i < rows.length; i++) {
      rows[i] =
          put(
              player,
              10,
              "item",
              Map.of("id", i + 1, "player_id", 1, "count", i == 700 ? 5_000 : i));
    }
    long smooth;
    long bisected;
    try (MySql one = MySqlPool.openForFlushes(server.as(Role.WRITER).config(1))) {
      FlushTransaction counted =
          new FlushTransaction(
              one, GuardedWrites.on(one), new FlushPlan.Patience(3, 0, 0, 15, 100));
      long before = inserts(one);
      Committed committed =
          assertInstanceOf(Committed.class, counted.flush(List.of(rows(player, session, rows))));
      bisected = inserts(one) - before - 1; // one wrote the dead letter
      assertEquals(
          "701", committed.written().get(0).setAside().get(0).rowKey(), "the row set aside");
      rows[700] = item(11, 1);
      before = inserts(one);
      counted.flush(List.of(rows(player, session, rows)));
      smooth = inserts(one) - before;
    }
    System.out.printf("one refused row of 1000: %d upserts instead of %d%n", bisected, smooth);
    assertTrue(bisected - smooth <= 2 * 10, () -> bisected + " upserts instead of " + smooth);
    assertEquals("999", query("SELECT COUNT(*) FROM item"));
    assertEquals(
        "item 701 10 1",
        query(
            "SELECT CONCAT_WS(' ', table_name, row_key, version, attempts) FROM"
                + " gameq_dead_letter"));
    assertTrue(query("SELECT error_text FROM gameq_dead_letter").contains("few"));
  }

  private static long inserts(MySql one) throws SQLException {
    try (Connection connection = one.connection();
        Statement statement = connection.createStatement();
        java.sql.ResultSet rs = statement.executeQuery("SHOW SESSION STATUS LIKE 'Com_insert'")) {
      rs.next();
      return rs.getLong(2);
    }
  }

  @Test
  void aRowThatMayFitLaterHoldsItsOwnerBackAndNotTheOthers() throws SQLException {
    RowChange others = put(other, 10, "item", Map.of("id", 2, "player_id", 2, "count", 7));
    Committed committed =
        assertInstanceOf(
            Committed.class,
            flush.flush(
                List.of(
                    rows(player, session, orphan(10), item(10, 1)),
                    rows(other, otherSession, others))));
    assertEquals(player, committed.heldBack().get(0).of().owner());
    assertEquals("2", query("SELECT GROUP_CONCAT(id) FROM item"));
    assertEquals("0", query("SELECT COUNT(*) FROM gameq_dead_letter"));
  }

  @Test
  void aRowThatDoesNotFitForLongIsSetAsideAndTheRestIsWritten() throws SQLException {
    Committed committed =
        assertInstanceOf(
            Committed.class,
            flush.flush(List.of(rows(player, session, 3, orphan(10), item(10, 1)))));
    assertEquals(1, committed.written().get(0).setAside().size());
    assertEquals("1", query("SELECT COUNT(*) FROM item"));
    assertEquals(
        "1452 3", query("SELECT CONCAT(error_code, ' ', attempts) FROM gameq_dead_letter"));
  }

  @Test
  void aRefusedDeleteLeavesTheRowAndNoTombstone() throws SQLException {
    flush(
        hero(10, 1, "Ann"),
        put(player, 10, "skill", Map.of("hero_id", 1, "no", 1, "player_id", 1)));
    Committed committed =
        assertInstanceOf(
            Committed.class,
            flush.flush(List.of(rows(player, session, 3, delete(player, 20, "hero", 1)))));
    assertEquals(1451, committed.written().get(0).setAside().get(0).errorCode());
    assertEquals("1", query("SELECT COUNT(*) FROM hero"));
    assertEquals("0", query("SELECT COUNT(*) FROM gameq_tombstone"));
  }

  @Test
  void ofARowOnlyTheNewestRefusedVersionIsKept() throws SQLException {
    server.execute("ALTER TABLE item ADD CONSTRAINT few CHECK (count < 5000)");
    flush(item(20, 6_000));
    flush(item(30, 7_000));
    flush(item(10, 5_000));
    assertEquals(
        "30 3", query("SELECT GROUP_CONCAT(version, ' ', attempts) FROM gameq_dead_letter"));
    flush(item(40, 1));
    flush(item(35, 8_000));
    assertEquals("40", query("SELECT gq_version FROM item"));
    assertEquals(
        "30", query("SELECT version FROM gameq_dead_letter"), "an outdated row is not set aside");
  }

  @Test
  void atTheLimitOfDeadLettersRowsWait() throws SQLException {
    server.execute("ALTER TABLE item ADD CONSTRAINT few CHECK (count < 5000)");
    FlushTransaction full =
        new FlushTransaction(
            mysql, GuardedWrites.on(mysql), new FlushPlan.Patience(3, 0, 0, 15, 1));
    full.flush(List.of(rows(player, session, item(10, 5_000))));
    RowChange second = put(player, 10, "item", Map.of("id", 2, "player_id", 1, "count", 5_000));
    RowChange fits = put(other, 10, "item", Map.of("id", 3, "player_id", 2, "count", 1));
    Committed committed =
        assertInstanceOf(
            Committed.class,
            full.flush(List.of(rows(player, session, second), rows(other, otherSession, fits))));
    assertTrue(committed.heldBack().get(0).reason().contains("no room"));
    assertEquals("3", query("SELECT GROUP_CONCAT(id) FROM item"));
    assertEquals("1", query("SELECT COUNT(*) FROM gameq_dead_letter"));
  }

  @Test
  void aMissingColumnIsReportedWithItsTableAndNothingIsWritten() throws SQLException {
    server.execute("ALTER TABLE item DROP COLUMN count");
    FlushTransaction.TableRefused refused =
        assertInstanceOf(
            FlushTransaction.TableRefused.class, flush(hero(10, 1, "Ann"), item(10, 1)));
    assertEquals("item", refused.table().name());
    assertEquals("0", query("SELECT COUNT(*) FROM hero"));
  }

  @Test
  void aTableNamedAsARowOfTheStatementIsFlushed() throws SQLException {
    RowChange row = put(player, 10, "gq_new", Map.of("id", 1, "player_id", 1));
    assertEquals(1, committed(flush(row)).written().size());
    assertEquals("10", query("SELECT gq_version FROM gq_new"));
  }

  /** Only rows for which the trigger does that are at fault. */
  @Test
  void aTriggerThatNamesAMissingTableHoldsUpNoOtherRow() throws SQLException {
    server.execute(
        "CREATE TRIGGER haunted BEFORE INSERT ON item FOR EACH ROW IF NEW.count = 666 THEN INSERT"
            + " INTO missing VALUES (1); END IF");
    Committed committed =
        committed(
            flush.flush(
                List.of(
                    rows(player, session, itemOf(player, 10, 1, 666)),
                    rows(other, otherSession, itemOf(other, 10, 2, 5)))));
    assertEquals(1, committed.heldBack().size());
    assertTrue(committed.heldBack().get(0).reason().contains("missing"));
    assertEquals("2", query("SELECT GROUP_CONCAT(id) FROM item"));

    committed = committed(flush(itemOf(player, 10, 1, 666))); // alone, too
    assertEquals(1, committed.heldBack().size());
  }

  private RowChange haunted(OwnerId owner, int id) throws SQLException {
    server.execute(
        "CREATE TRIGGER IF NOT EXISTS haunted BEFORE INSERT ON item FOR EACH ROW IF NEW.count = 666"
            + " THEN INSERT INTO missing VALUES (1); END IF");
    return itemOf(owner, 10, id, 666);
  }

  @Test
  void whatATriggerRefusesIsNoDeadLetterWhileNoRowOfItsTablePasses() throws SQLException {
    OwnerRows tooLong = rows(player, session, 3, haunted(player, 1), hero(10, 1, "Ann"));
    assertEquals(1, committed(flush.flush(List.of(tooLong))).heldBack().size());
    assertEquals("0", query("SELECT COUNT(*) FROM gameq_dead_letter"));

    flush.flush(List.of(rows(other, otherSession, itemOf(other, 10, 2, 5))));
    assertEquals(1, committed(flush.flush(List.of(tooLong))).written().get(0).setAside().size());
    assertEquals(
        "item 1 1146",
        query("SELECT CONCAT_WS(' ', table_name, row_key, error_code) FROM gameq_dead_letter"));
    assertEquals("Ann", query("SELECT name FROM hero"));
  }

  @Test
  void aTableOfWhichATriggerRefusesEveryRowTakesNone() throws SQLException {
    FlushTransaction.TableRefused refused =
        assertInstanceOf(
            FlushTransaction.TableRefused.class,
            flush.flush(
                List.of(
                    rows(player, session, 3, haunted(player, 1), hero(10, 1, "Ann")),
                    rows(other, otherSession, 3, haunted(other, 2)))));
    assertEquals("item", refused.table().name());
    assertTrue(refused.reason().contains("missing"), refused.reason());
    assertEquals("0", query("SELECT COUNT(*) FROM hero"));
    assertEquals("0", query("SELECT COUNT(*) FROM gameq_dead_letter"));
  }

  @Test
  void aLockedRowIsNoOutage() throws Exception {
    flush(item(10, 1));
    try (Connection locking = server.connect()) {
      locking.setAutoCommit(false);
      try (Statement statement = locking.createStatement()) {
        statement.executeQuery("SELECT * FROM item FOR UPDATE").close();
      }
      assertInstanceOf(FlushTransaction.Locked.class, flush(item(20, 2)));
    }
    assertInstanceOf(Committed.class, flush(item(20, 2)));
  }
}
