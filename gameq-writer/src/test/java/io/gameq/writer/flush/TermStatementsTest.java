package io.gameq.writer.flush;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.flush.FlushPlan;
import io.gameq.mysql.flush.FlushPlan.OwnerRows;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.mysql.flush.FlushTransaction.Committed;
import io.gameq.mysql.flush.FlushTransaction.Demoted;
import io.gameq.mysql.flush.GuardedWrites;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.mysql.tables.TermTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowImage;
import io.gameq.servers.GameDatabase;
import io.gameq.term.Term;
import io.gameq.term.Term.Primary;
import io.gameq.term.Term.TermMovedException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Where the Redis term is compared, moved and held, on a real MySQL. */
class TermStatementsTest {
  private static final OwnerReader.Sink IGNORED =
      new OwnerReader.Sink() {
        @Override
        public void row(RowImage image) {}

        @Override
        public void tombstone(RowKey key, long version) {}

        @Override
        public void tombstoneVersion(long version) {}
      };

  /** The common pool has one thread on two cores, from JDK 25 on. */
  private final ExecutorService threads = Executors.newCachedThreadPool();

  private final OwnerId player = OwnerId.of("player:1");
  private final Primary old = new Primary("run-p", "repl-p", "0", "redis-1:6379", 1);
  private final Primary promoted = new Primary("run-q", "repl-q", "repl-p", "redis-2:6379", 2);
  private GameDatabase database;
  private MySql mysql;
  private TermTable terms;
  private OwnerTable owners;
  private SessionId session;

  @BeforeEach
  void start() throws SQLException {
    database = GameDatabase.create("term");
    mysql = // one that waits for a lock for longer than the tests hold one
        MySqlPool.open(database.as(Role.NODE).config(4), "term");
    terms = new TermTable(mysql);
    owners = new OwnerTable(mysql);
    session = owners.raise(player, "aaaaaaaa00000001", "n1", 0);
    assertTrue(terms.moveOn(terms.current(), old));
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
    mysql.close();
  }

  private boolean opens(long term) {
    return new OwnerReader(mysql).read(player, session, term, 0, List.of(), List.of(), IGNORED);
  }

  private FlushTransaction.Outcome flush(long term) {
    return new FlushTransaction(
            mysql, GuardedWrites.on(mysql), new FlushPlan.Patience(3, 0, 0, 15, 100))
        .flush(
            term,
            List.of(new OwnerRows(player, session, 1, 1, List.of(), List.of())),
            FlushPlan.Halves.UNKNOWN);
  }

  @Test
  void ofTwoThatComeAtOnceOneMovesItOn() {
    Term before = terms.current();
    assertTrue(terms.moveOn(before, promoted));
    assertFalse(terms.moveOn(before, promoted));
    assertEquals(2, terms.current().number());
    assertEquals("run-p:repl-p", terms.current().formers());
  }

  @Test
  void flushByWayOfAFormerPrimaryWritesNothing() {
    assertInstanceOf(Committed.class, flush(1));
    assertTrue(terms.moveOn(terms.current(), promoted));
    assertInstanceOf(Demoted.class, flush(1));
    assertInstanceOf(Committed.class, flush(2));
    assertInstanceOf(Committed.class, flush(Term.NOT_KNOWN));
  }

  @Test
  void flushWritesNothingOnceTheProtocolIsRaisedBeyondThisBuild() throws SQLException {
    assertInstanceOf(Committed.class, flush(1));
    database.server().execute("INSERT INTO gameq_setting VALUES ('protocol', '9 0.9.0 then x')");
    Demoted refused = assertInstanceOf(Demoted.class, flush(1));
    assertTrue(refused.reason().contains("the database is at 9"), refused.reason());
  }

  @Test
  void openByWayOfAFormerPrimaryDoesNotSetTheSessionOpen() throws SQLException {
    assertTrue(terms.moveOn(terms.current(), promoted));
    assertThrows(TermMovedException.class, () -> opens(1));
    assertEquals("opening", database.server().queryText("SELECT state FROM gameq_owner"));
    assertTrue(opens(2));
  }

  @Test
  void nobodyGoesOverBetweenTheComparisonOfAnOpenAndItsCommit() throws Exception {
    List<CompletableFuture<Boolean>> moves = new ArrayList<>();
    MySql watched =
        withHookBeforeCommit(
            () -> {
              Term before = terms.current();
              moves.add(
                  CompletableFuture.supplyAsync(() -> terms.moveOn(before, promoted), threads));
              assertThrows(
                  TimeoutException.class, () -> moves.get(0).get(500, TimeUnit.MILLISECONDS));
            });
    assertTrue(new OwnerReader(watched).read(player, session, 1, 0, List.of(), List.of(), IGNORED));
    assertTrue(moves.get(0).get(LONG.toSeconds(), TimeUnit.SECONDS));
  }

  private MySql withHookBeforeCommit(Runnable hook) {
    return new MySql(
        (DataSource)
            Proxy.newProxyInstance(
                DataSource.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (self, method, args) -> hooked(mysql.connection(), hook)));
  }

  private static Connection hooked(Connection connection, Runnable hook) {
    return proxy(
        Connection.class,
        connection,
        (name, its) -> its,
        name -> {
          if (name.equals("createStatement")) { // for COMMIT alone: the others are prepared
            hook.run();
          }
        });
  }

  private static <T> T proxy(
      Class<T> type, T of, BiFunction<String, Object, Object> after, Consumer<String> before) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, args) -> {
              before.accept(method.getName());
              try {
                return after.apply(method.getName(), method.invoke(of, args));
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  @Test
  void anOpenThatHangsKeepsNobodyFromGoingOver() throws Exception {
    try (Connection flushing = mysql.connection()) {
      flushing.setAutoCommit(false);
      OwnerTable.lock(flushing, List.of(player), 1); // the open waits here
      CompletableFuture<Boolean> opens = CompletableFuture.supplyAsync(() -> opens(1), threads);
      assertThrows(TimeoutException.class, () -> opens.get(500, TimeUnit.MILLISECONDS));
      Term before = terms.current();
      assertTrue(
          CompletableFuture.supplyAsync(() -> terms.moveOn(before, promoted), threads)
              .get(LONG.toSeconds(), TimeUnit.SECONDS));
      flushing.rollback();
      ExecutionException refused =
          assertThrows(
              ExecutionException.class, () -> opens.get(LONG.toSeconds(), TimeUnit.SECONDS));
      assertInstanceOf(TermMovedException.class, refused.getCause());
    }
  }

  @Test
  void flushThatHangsKeepsNobodyFromGoingOver() throws SQLException {
    try (Connection flushing = mysql.connection()) {
      flushing.setAutoCommit(false);
      OwnerTable.lock(flushing, List.of(player), 1);
      assertTrue(terms.moveOn(terms.current(), promoted));
      flushing.rollback();
    }
  }
}
