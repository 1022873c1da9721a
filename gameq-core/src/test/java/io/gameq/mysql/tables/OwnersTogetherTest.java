package io.gameq.mysql.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.Settings.SchemaFiles;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.gameq.term.Term;
import io.gameq.term.Term.TermMovedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongFunction;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Owners that are raised, and loaded, in one transaction. */
class OwnersTogetherTest {
  private static final int OWNERS = 5;

  private final MySqlServer server = TestServers.mysql().freshDatabase("together");
  private final MySql mysql = MySqlPool.openForLogins(server.config(3), Duration.ofSeconds(20));
  private final OwnerTable owners = new OwnerTable(mysql);
  private final OwnerReader snapshots = new OwnerReader(mysql);
  private List<Table> tables = List.of();

  @BeforeEach
  void createTables() throws SQLException {
    for (SchemaFiles.SchemaFile file : SchemaFiles.all()) {
      server.execute(file.statements().toArray(String[]::new));
    }
    server.execute(
        "CREATE TABLE pet (id BIGINT PRIMARY KEY, player_id BIGINT NOT NULL, gq_version BIGINT"
            + " UNSIGNED NOT NULL DEFAULT 0, KEY (player_id))",
        "INSERT INTO gameq_table (table_name, owner_kind, owner_column) VALUES ('pet', 'player',"
            + " 'player_id')",
        "REPLACE INTO gameq_redis_term (id, number, run_id, repl_id, address, sentinel_epoch,"
            + " former_run_id, former_repl_id, began_at, seen_at) VALUES (1, 3, 'r', '', '', 0, '',"
            + " '', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))");
    for (int owner = 1; owner <= OWNERS; owner++) {
      server.execute("INSERT INTO pet VALUES (%d, %d, 7)".formatted(100 + owner, owner));
    }
    tables = List.of(CatalogReader.read(mysql).table("pet"));
  }

  @AfterEach
  void close() {
    mysql.close();
  }

  private static OwnerId owner(long number) {
    return OwnerId.of("player:" + number);
  }

  private static String nonce(long number) {
    return "%016x".formatted(number);
  }

  /** What was told of an owner. */
  private static final class Told implements OwnerReader.Sink {
    private final List<Long> ids = new ArrayList<>();

    @Override
    public void begin() {
      ids.clear();
    }

    @Override
    public void row(RowImage image) {
      ids.add((Long) image.values()[0]);
    }

    @Override
    public void tombstone(RowKey key, long version) {}

    @Override
    public void tombstoneVersion(long version) {}
  }

  private <T> List<T> ofAll(LongFunction<T> of) {
    return LongStream.rangeClosed(1, OWNERS).mapToObj(of).toList();
  }

  private CountingSessions stored(long number) {
    return Objects.requireNonNull(owners.current(List.of(owner(number))).get(owner(number)));
  }

  private List<SessionId> raiseAll() {
    return owners.raiseAll(
        ofAll(n -> new OwnerTable.EpochRequest(owner(n), nonce(n), "n1", n == 2 ? 40 : 0)));
  }

  private OwnerReader.ReadRequest wanted(long number, SessionId session, long term, Told told) {
    return new OwnerReader.ReadRequest(owner(number), session, term, 0, tables, List.of(), told);
  }

  @Test
  void eachOwnerHasAnEpochOfItsOwn() {
    List<SessionId> first = raiseAll();
    assertEquals(List.of(1L, 40L, 1L, 1L, 1L), first.stream().map(SessionId::epoch).toList());
    List<SessionId> second = raiseAll();
    assertEquals(List.of(2L, 41L, 2L, 2L, 2L), second.stream().map(SessionId::epoch).toList());
    assertEquals(second, ofAll(n -> stored(n).newest()), "as MySQL has them");
  }

  @Test
  void whereOneIsLockedNoneIsRaised() throws SQLException {
    raiseAll();
    try (Connection flush = server.connect()) {
      flush.setAutoCommit(false);
      OwnerTable.lock(flush, List.of(owner(3)));
      assertThrows(MySqlException.class, this::raiseAll);
      flush.rollback();
    }
    assertEquals(List.of(1L, 40L, 1L, 1L, 1L), ofAll(n -> stored(n).newest().epoch()));
    assertEquals(2, raiseAll().get(0).epoch(), "its connection is as it was");
  }

  @Test
  void eachIsToldItsOwnRowsAndHasWhatItAdopted() {
    List<SessionId> first = raiseAll();
    List<Told> told = openAll(first, n -> 0);
    assertEquals(ofAll(n -> List.of(100L + n)), told.stream().map(of -> of.ids).toList());
    assertEquals(ofAll(n -> CountingSessions.open(first.get((int) n - 1))), ofAll(this::stored));
    List<SessionId> second = raiseAll();
    List<Told> unused = openAll(second, n -> n == 4 ? 0 : 10 * n);
    raiseAll(); // these are never open
    for (int takeover = 0; takeover < 7; takeover++) {
      unused = openAll(raiseAll(), n -> 1_000);
    }
    assertEquals(List.of(10L, 20L, 30L, 0L, 50L), adoptedFrom(first));
    assertEquals(ofAll(n -> 1_000L), adoptedFrom(second));
    unused = openAll(raiseAll(), n -> Long.MAX_VALUE);
    assertEquals(ofAll(n -> 0L), adoptedFrom(first), "too long ago");
    assertEquals(ofAll(n -> 1_000L), adoptedFrom(second));
  }

  private List<Told> openAll(List<SessionId> sessions, LongUnaryOperator adopted) {
    List<Told> told = ofAll(n -> new Told());
    assertEquals(
        ofAll(n -> true),
        snapshots.readAll(
            ofAll(
                n ->
                    new OwnerReader.ReadRequest(
                        owner(n),
                        sessions.get((int) n - 1),
                        3,
                        adopted.applyAsLong(n),
                        tables,
                        List.of(),
                        told.get((int) n - 1)))));
    return told;
  }

  private List<Long> adoptedFrom(List<SessionId> sessions) {
    return ofAll(n -> owners.adoptedFrom(owner(n), sessions.get((int) n - 1)));
  }

  @Test
  void whereOneWasTakenOverNoneIsOpenAndTheOthersAreAlone() {
    List<SessionId> sessions = raiseAll();
    SessionId taker = owners.raise(owner(4), nonce(99), "n2", 0);
    List<OwnerReader.ReadRequest> all =
        ofAll(n -> wanted(n, sessions.get((int) n - 1), 3, new Told()));
    assertThrows(GameQueueException.class, () -> snapshots.readAll(all));
    assertEquals(ofAll(n -> true), ofAll(n -> stored(n).opening()));
    assertEquals(ofAll(n -> n != 4), all.stream().map(snapshots::readOne).toList());
    assertEquals(ofAll(n -> n == 4), ofAll(n -> stored(n).opening()));
    assertEquals(taker, stored(4).newest());
  }

  @Test
  void aRowWhoseOwnerColumnOnlyLooksAlikeIsToldToNobody() throws SQLException {
    server.execute(
        "CREATE TABLE badge (id BIGINT PRIMARY KEY, hero VARCHAR(20) CHARACTER SET utf8mb4 COLLATE"
            + " utf8mb4_bin NOT NULL, gq_version BIGINT UNSIGNED NOT NULL DEFAULT 0, KEY (hero))",
        "INSERT INTO gameq_table (table_name, owner_kind, owner_column) VALUES ('badge', 'hero',"
            + " 'hero')",
        "INSERT INTO badge VALUES (1, 'Bob', 1), (2, 'bob', 1), (3, 'Bob ', 1)");
    List<Table> badges = List.of(CatalogReader.read(mysql).table("badge"));
    List<Told> told = List.of(new Told(), new Told(), new Told());
    List<OwnerReader.ReadRequest> wanted = new ArrayList<>();
    for (String name : List.of("Bob", "bob", "Bob")) {
      wanted.add(
          new OwnerReader.ReadRequest(
              OwnerId.of("hero:" + name),
              null,
              Term.NOT_KNOWN,
              0,
              badges,
              List.of(),
              told.get(wanted.size())));
    }
    assertEquals(List.of(true, true, true), snapshots.readAll(wanted));
    assertEquals(
        List.of(List.of(1L), List.of(2L), List.of(1L)), told.stream().map(of -> of.ids).toList());
    assertEquals(true, snapshots.readOne(wanted.get(0)));
    assertEquals(List.of(1L), told.get(0).ids);
  }

  @Test
  void whoIsOpenedWaitsForNobodyElse() throws SQLException {
    List<SessionId> sessions = raiseAll();
    try (Connection flush = server.connect()) {
      flush.setAutoCommit(false);
      OwnerTable.lock(flush, List.of(owner(5)));
      assertEquals(
          List.of(true, true, true),
          snapshots.readAll(
              LongStream.of(1, 2, 4)
                  .mapToObj(n -> wanted(n, sessions.get((int) n - 1), 3, new Told()))
                  .toList()));
      flush.rollback();
    }
    assertEquals(List.of(false, false, true, false, true), ofAll(n -> stored(n).opening()));
  }

  @Test
  void whereOneCameByWayOfAnotherPrimaryNoneIsOpen() {
    List<SessionId> sessions = raiseAll();
    List<OwnerReader.ReadRequest> all =
        ofAll(n -> wanted(n, sessions.get((int) n - 1), n == 2 ? 2 : 3, new Told()));
    assertThrows(TermMovedException.class, () -> snapshots.readAll(all));
    ofAll(
        n -> {
          assertEquals(true, stored(n).opening());
          return n;
        });
    assertEquals(true, snapshots.readOne(all.get(0)));
    assertThrows(TermMovedException.class, () -> snapshots.readOne(all.get(1)));
  }

  @Test
  void readsShareASnapshotWithOpens() {
    List<SessionId> sessions = raiseAll();
    Told open = new Told();
    Told read = new Told();
    assertEquals(
        List.of(true, true),
        snapshots.readAll(
            List.of(
                wanted(1, sessions.get(0), 3, open),
                new OwnerReader.ReadRequest(
                    owner(2), null, Term.NOT_KNOWN, 0, tables, List.of(), read))));
    assertEquals(List.of(101L), open.ids);
    assertEquals(List.of(102L), read.ids);
    assertEquals(true, stored(2).opening());
  }
}
