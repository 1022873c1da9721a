package io.gameq.writer.flush;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.FlushPlan;
import io.gameq.mysql.flush.FlushPlan.OwnerRows;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.mysql.flush.FlushTransaction.Committed;
import io.gameq.mysql.flush.FlushTransaction.Outcome;
import io.gameq.mysql.flush.GuardedWrites;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rows.CanonicalRow;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.HandledRow;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowHeader;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.Table;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import io.gameq.topic.DeadLetter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What two handlers of one message committed meets in flushes. */
@Execution(ExecutionMode.CONCURRENT)
class SecondHandlerTest {
  private static final RowCodec CODEC = new RowCodec((table, layout) -> null, Clock.systemUTC());
  private static final long MESSAGE_VERSION = -2; // unsigned, as any of the far future is

  private final MySqlServer server = server();
  private final MySql mysql = MySqlPool.openForFlushes(server.as(Role.WRITER).config(4));
  private final Catalog catalog = CatalogReader.read(mysql);
  private final FlushTransaction flush =
      new FlushTransaction(
          mysql, GuardedWrites.on(mysql), new FlushPlan.Patience(3, 0, 0, 15, 100));
  private final OwnerTable owners = new OwnerTable(mysql);
  private final OwnerId one = OwnerId.of("player:1");
  private final OwnerId two = OwnerId.of("player:2");
  private final SessionId ofOne = open(one, "aaaaaaaa00000001");
  private final SessionId ofTwo = open(two, "aaaaaaaa00000002");

  private static MySqlServer server() {
    try {
      return GameDatabase.create("handled")
          .table(
              "item",
              "player",
              "player_id",
              "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL")
          .server();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @AfterEach
  void close() {
    mysql.close();
  }

  private SessionId open(OwnerId owner, String nonce) {
    SessionId session = owners.raise(owner, nonce, "n1", 0);
    assertTrue(owners.markOpen(owner, session));
    return session;
  }

  private RowChange item(OwnerId owner, int id, long version) {
    Table table = catalog.table("item");
    Object[] row = CanonicalRow.of(table, Map.of("id", id, "player_id", id), Clock.systemUTC());
    return change(
        owner, new EncodedRow("item:" + id, CODEC.encode(table, RowOp.PUT, row)), version);
  }

  private static EncodedRow handledRow(
      String topic, String id, long version, long occurrence, String token) {
    return HandledRow.of(
        new HandledRow.Message(topic, id, 0, 0, new byte[0]), version, occurrence, token);
  }

  private RowChange handled(OwnerId owner, String message, String token, long version) {
    return change(owner, handledRow("mail", message, MESSAGE_VERSION, 0, token), version);
  }

  private RowChange change(OwnerId owner, EncodedRow row, long version) {
    RowHeader.setVersion(row.image(), version);
    Table table = catalog.rowKey(row.key()).table();
    return new RowChange(
        owner, catalog.rowKey(row.key()), CODEC.decode(table, row.image()), row.image());
  }

  private OwnerRows rows(OwnerId owner, SessionId session, RowChange... rows) {
    return new OwnerRows(owner, session, 1, 0, List.of(rows), List.of());
  }

  private OwnerRows byOne(String token, long version) {
    return rows(one, ofOne, item(one, 1, version), handled(one, "m", token, version));
  }

  private OwnerRows byTwo(String token, long version) {
    return rows(two, ofTwo, item(two, 2, version), handled(two, "m", token, version));
  }

  private Committed flushed(OwnerRows... all) {
    return assertInstanceOf(Committed.class, flush.flush(List.of(all)));
  }

  private static List<OwnerId> fenced(Committed committed) {
    return committed.fenced().stream().map(of -> of.of().owner()).toList();
  }

  private String items() throws SQLException {
    return String.valueOf(server.queryText("SELECT GROUP_CONCAT(id ORDER BY id) FROM item"));
  }

  @Test
  void theSessionOfTheSecondIsEndedAndNothingOfItIsWritten() throws SQLException {
    assertEquals(List.of(), fenced(flushed(byOne("a", 10))));
    Committed committed = flushed(byTwo("b", 9), rows(one, ofOne, item(one, 3, 12)));
    assertEquals(List.of(two), fenced(committed));
    assertTrue(committed.fenced().get(0).why().contains("mail/m"), committed::toString);
    assertEquals("1,3", items());
    assertEquals("a", server.queryText("SELECT token FROM gameq_handled"));
    assertEquals(1, flushed(rows(two, ofTwo, item(two, 4, 20))).notOwned().size());
    SessionId next = open(two, "bbbbbbbb00000002");
    assertTrue(next.isNewerThan(committed.fenced().get(0).by()));
    flushed(rows(two, next, item(two, 5, 30)));
    assertEquals("1,3,5", items());
  }

  @Test
  void ofTwoInOneFlushTheOlderCommitCounts() throws SQLException {
    Committed committed = flushed(byOne("a", 11), byTwo("b", 10));
    assertEquals(List.of(one), fenced(committed));
    assertEquals("2", items());
  }

  @Test
  void whatOneHandlerChangedInTwoOwnersCountsInBothHoweverOftenItIsFlushed() throws SQLException {
    for (int times = 0; times < 2; times++) {
      assertEquals(List.of(), fenced(flushed(byOne("a", 10), byTwo("a", 10))));
      assertEquals(List.of(), fenced(flushed(byTwo("a", 10))));
    }
    assertEquals("1,2", items());
  }

  @Test
  void otherMessagesVersionsAndOccurrencesAreOthers() throws SQLException {
    List<EncodedRow> all =
        List.of(
            handledRow("mail", "m", 7, 0, "a"),
            handledRow("post", "m", 7, 0, "b"),
            handledRow("mail", "n", 7, 0, "c"),
            handledRow("mail", "g:m", 7, 0, "d"),
            handledRow("mail", "m", 8, 0, "e"),
            handledRow("mail", "m", 7, 1, "f"),
            handledRow("mail", "%C3%A4".repeat(85), 7, 0, "g"),
            handledRow("mail", "%C3%A4".repeat(84), 7, 0, "h"));
    RowChange[] rows = all.stream().map(row -> change(one, row, 10)).toArray(RowChange[]::new);
    assertEquals(List.of(), fenced(flushed(rows(one, ofOne, rows))));
    assertEquals("8", server.queryText("SELECT COUNT(*) FROM gameq_handled"));
    RowChange again = change(two, handledRow("mail", "%C3%A4".repeat(85), 7, 0, "x"), 20);
    assertEquals(List.of(two), fenced(flushed(rows(two, ofTwo, again))));
  }

  @Test
  void anOpenThatIsUnderWayIsEndedWithTheSessionBeforeIt() throws SQLException {
    flushed(byOne("a", 10));
    SessionId opening = owners.raise(two, "bbbbbbbb00000002", "n2", 0);
    assertEquals(List.of(two), fenced(flushed(byTwo("b", 11))));
    assertFalse(owners.markOpen(two, opening), "it has read what the second committed");
    assertEquals("1", items());
  }

  @Test
  void theSecondWaitsUntilItIsKnownWhetherTheFirstCounts() throws Exception {
    for (boolean counts : List.of(false, true)) {
      try (Connection first = server.connect();
          Statement statement = first.createStatement()) {
        first.setAutoCommit(false);
        statement.execute(
            "INSERT INTO gameq_handled VALUES ('mail', 'm%s', %s, 0, 'a', 1, UTC_TIMESTAMP(3))"
                .formatted(counts, Long.toUnsignedString(MESSAGE_VERSION)));
        CompletableFuture<Committed> second =
            CompletableFuture.supplyAsync(
                () -> flushed(rows(two, ofTwo, handled(two, "m" + counts, "b", 10))));
        await().atMost(LONG).until(() -> waiting() == 1);
        if (counts) {
          first.commit();
        } else {
          first.rollback();
        }
        assertEquals(counts ? List.of(two) : List.of(), fenced(second.join()));
      }
    }
  }

  @Test
  void whatTheSecondSentIsSetAsideAndTheRestOfTheInboxIsWritten() throws SQLException {
    flushed(byOne("a", 10));
    OwnerId inbox = two.inbox("cccccccc");
    SessionId session = SessionId.ofInbox("cccccccc");
    Committed committed =
        flushed(
            rows(
                inbox,
                session,
                item(inbox, 6, 11),
                item(inbox, 7, 12),
                handled(inbox, "m", "b", 12),
                handled(inbox, "n", "b", 12),
                item(inbox, 8, 13),
                handled(inbox, "other", "c", 13)));
    assertEquals(List.of(), fenced(committed));
    assertEquals("1,6,8", items());
    assertEquals(
        "player%3A2 7 " + DeadLetter.HANDLED_TWICE,
        server.queryText(
            "SELECT GROUP_CONCAT(owner, ' ', row_key, ' ', error_code) FROM gameq_dead_letter"));
  }

  private Committed flushedInTime(OwnerRows... all) {
    return CompletableFuture.supplyAsync(() -> flushed(all))
        .orTimeout(LONG.toMillis(), TimeUnit.MILLISECONDS)
        .join();
  }

  @Test
  void theSessionOfBothHandlersIsEndedAndOthersInItsFlushAreWritten() throws SQLException {
    Committed committed =
        flushedInTime(
            rows(
                one,
                ofOne,
                item(one, 1, 10),
                handled(one, "m", "a", 10),
                item(one, 3, 11),
                handled(one, "m", "b", 11)),
            rows(two, ofTwo, item(two, 2, 12)));
    assertEquals(List.of(one), fenced(committed));
    assertTrue(committed.fenced().get(0).why().contains("mail/m"), committed::toString);
    assertEquals("2", items());
    assertEquals("0", server.queryText("SELECT COUNT(*) FROM gameq_handled"));
  }

  @Test
  void ofTwoOwnersThatEachHandledAMessageOfTheOtherFirstTheRowsOfOneCount() throws SQLException {
    Committed committed =
        flushedInTime(
            rows(
                one,
                ofOne,
                item(one, 1, 10),
                handled(one, "m", "a", 10),
                handled(one, "n", "c", 19)),
            rows(
                two,
                ofTwo,
                item(two, 2, 14),
                handled(two, "m", "b", 15),
                handled(two, "n", "d", 14)));
    assertEquals(1, committed.fenced().size(), committed::toString);
    assertEquals(fenced(committed).equals(List.of(two)) ? "1" : "2", items());
    assertEquals("2", server.queryText("SELECT COUNT(*) FROM gameq_handled"));
  }

  @Test
  void twoFlushesOfTwoVersionsOfAMessageDoNotWaitInACircle() throws Exception {
    try (Connection before = server.connect();
        Statement statement = before.createStatement()) {
      before.setAutoCommit(false);
      statement.execute(
          "INSERT INTO gameq_handled VALUES ('mail', 'm', 8, 0, 'x', 1, UTC_TIMESTAMP(3))");
      List<ErrorKind> errors = new CopyOnWriteArrayList<>();
      FlushTransaction told =
          new FlushTransaction(
              mysql,
              GuardedWrites.on(mysql),
              new FlushPlan.Patience(3, 0, 0, 15, 100),
              errors::add);
      List<CompletableFuture<Outcome>> flushes = new ArrayList<>();
      for (OwnerRows of :
          List.of(
              rows(
                  one,
                  ofOne,
                  change(one, handledRow("mail", "m", 8, 0, "a"), 10),
                  change(one, handledRow("mail", "m", 7, 0, "b"), 20)),
              rows(
                  two,
                  ofTwo,
                  change(two, handledRow("mail", "m", 7, 0, "c"), 30),
                  change(two, handledRow("mail", "m", 8, 0, "d"), 40)))) {
        flushes.add(CompletableFuture.supplyAsync(() -> told.flush(List.of(of))));
        await().atMost(LONG).until(() -> waiting() == flushes.size());
      }
      before.commit();
      flushes.forEach(of -> assertInstanceOf(Committed.class, of.join()));
      assertEquals(List.of(), errors);
    }
  }

  /** Flushes that wait for a lock of {@code gameq_handled}. */
  private long waiting() throws SQLException {
    return Long.parseLong(
        server.queryText(
            "SELECT COUNT(*) FROM information_schema.innodb_trx JOIN information_schema.processlist"
                + " ON id = trx_mysql_thread_id WHERE db = DATABASE() AND trx_state = 'LOCK WAIT'"
                + " AND trx_query LIKE '%gameq_handled%'"));
  }

  // --- every order

  /** A message in each case: the handlers' owners, each of whom is flushed once. */
  private String countsIn(FlushTransaction by, int number, List<List<Integer>> flushes)
      throws SQLException {
    Map<Integer, OwnerRows> parts = new HashMap<>();
    for (int player = 1; player <= 4; player++) {
      OwnerId owner = OwnerId.of("player:" + player);
      SessionId session = open(owner, "%016x".formatted(16L * number + player));
      String token = player <= 2 ? "a" : "b";
      long version = number * 10L + (player <= 2 ? 1 : 2);
      parts.put(
          player,
          rows(
              owner,
              session,
              item(owner, 4 * number + player, version),
              handled(owner, "m" + number, token, version)));
    }
    for (List<Integer> together : flushes) {
      Outcome outcome = by.flush(together.stream().map(parts::get).toList());
      assertInstanceOf(Committed.class, outcome);
    }
    return String.valueOf(
        server.queryText(
            "SELECT GROUP_CONCAT(id - %d ORDER BY id) FROM item WHERE id > %d"
                .formatted(4 * number, 4 * number)));
  }

  /** The parts of two handlers with two owners each, in every order, some flushed together. */
  private static List<List<List<Integer>>> orders() {
    List<List<Integer>> permutations = List.of(List.of());
    for (int player = 1; player <= 4; player++) {
      List<List<Integer>> longer = new ArrayList<>();
      for (List<Integer> of : permutations) {
        for (int at = 0; at <= of.size(); at++) {
          List<Integer> with = new ArrayList<>(of);
          with.add(at, player);
          longer.add(with);
        }
      }
      permutations = longer;
    }
    List<List<List<Integer>>> all = new ArrayList<>();
    for (List<Integer> of : permutations) {
      for (int cuts = 0; cuts < 8; cuts++) {
        List<List<Integer>> flushes = new ArrayList<>(List.of(new ArrayList<>()));
        for (int i = 0; i < 4; i++) {
          flushes.get(flushes.size() - 1).add(of.get(i));
          if (i < 3 && (cuts >> i & 1) == 1) {
            flushes.add(new ArrayList<>());
          }
        }
        all.add(flushes);
      }
    }
    return all;
  }

  private long wrongIn(FlushTransaction by, int every) throws SQLException {
    List<List<List<Integer>>> all = orders();
    assertEquals(192, all.size());
    long wrong = 0;
    for (int number = 0; number < all.size(); number += every) {
      String counts = countsIn(by, number, all.get(number));
      wrong += counts.equals("1,2") || counts.equals("3,4") ? 0 : 1;
    }
    return wrong;
  }

  @Test
  void inWhateverOrderTheOwnersOfTwoHandlersAreFlushedTheRowsOfOneCount() throws SQLException {
    assertEquals(0, wrongIn(flush, 1));
  }

  @Test
  void theRowsOfBothCountWithoutTheRuleThatComparesTokens() throws SQLException {
    DataSource planted =
        proxy(DataSource.class, (self, method, args) -> lastTokenWins(mysql.connection()));
    FlushTransaction without =
        new FlushTransaction(
            new MySql(planted), GuardedWrites.on(mysql), new FlushPlan.Patience(3, 0, 0, 15, 100));
    assertTrue(wrongIn(without, 7) > 0);
  }

  /** So that whoever is flushed finds its own token. */
  private static Connection lastTokenWins(Connection real) {
    return proxy(
        Connection.class,
        (self, method, args) -> {
          if (method.getName().equals("prepareStatement")) {
            args[0] =
                args[0].toString().replace("UPDATE token = token", "UPDATE token = VALUES(token)");
          }
          try {
            return method.invoke(real, args);
          } catch (InvocationTargetException e) {
            throw Objects.requireNonNull(e.getCause());
          }
        });
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }
}
