package io.gameq.lab.demo;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.MySqlException;
import io.gameq.OwnerSession;
import io.gameq.Row;
import io.gameq.lab.demo.game.DemoGame;
import io.gameq.owner.OwnerId;
import io.gameq.rows.Table;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A game node of the demo: a {@link GameQueue}, and a desk of a few threads for what waits for
 * MySQL, so that the drivers never do. Thread-safe.
 */
final class DemoNode implements AutoCloseable {
  /** Logins wait for two commits in MySQL each; more threads would only queue there. */
  private static final int DESK_THREADS = 3;

  private static final Duration ANSWER = Duration.ofSeconds(30);

  /** Of one login while MySQL is held up; each may wait a second for a lock. */
  private static final int MOST_TRIES = 10;

  private final GameQueue queue;
  private final World world;
  private final ExecutorService desk;
  private final List<Driver> drivers = new ArrayList<>();
  private volatile @Nullable DemoNode next;

  /**
   * What the nodes of a run share; {@code atDesks} counts players whom a desk has, {@code ended}
   * turns newcomers away.
   */
  record World(
      DemoGame game,
      DemoStats stats,
      Mismatches mismatches,
      AtomicInteger atDesks,
      AtomicBoolean ended) {}

  DemoNode(String name, GameQueue queue, World world) {
    this.queue = queue;
    this.world = world;
    this.desk =
        Executors.newFixedThreadPool(
            DESK_THREADS,
            task -> {
              Thread thread = new Thread(task, name + "-desk");
              thread.setDaemon(true);
              return thread;
            });
  }

  /** Where players of this node move to. */
  void setNext(DemoNode node) {
    next = node;
  }

  void add(Driver driver) {
    drivers.add(driver);
  }

  List<Driver> drivers() {
    return drivers;
  }

  /** Commits what is staged for these players as one. */
  CommitReceipt commit(List<DemoPlayer> of) {
    return queue.commit(of.stream().map(DemoPlayer::session).toArray(OwnerSession[]::new));
  }

  /** Logs a player in here: what gameq has must be what its memory holds. */
  void login(DemoPlayer player) {
    atDesk(
        () -> {
          boolean fresh = !player.created();
          if (fresh && world.ended.get()) {
            return;
          }
          OwnerSession session = open(player.actor.owner());
          compare("at login", player, table -> session.rows(table.name()));
          session.forgetLoaded();
          player.loggedIn(session);
          world.stats.logins.increment();
          if (fresh) {
            create(player, session);
            world.stats.isIn();
          }
          drivers.get(ThreadLocalRandom.current().nextInt(drivers.size())).admit(player);
        });
  }

  /** As a login screen that tries again when MySQL does not answer in time. */
  private OwnerSession open(String owner) {
    for (int tries = 1; ; tries++) {
      try {
        return queue.open(owner);
      } catch (MySqlException e) {
        if (tries == MOST_TRIES) {
          throw e;
        }
        world.stats.loginsTriedAgain.increment();
      }
    }
  }

  private void create(DemoPlayer player, OwnerSession session) {
    world.stats.rowChanges.add(player.actor.create(session));
    world.stats.commits.increment();
    CommitReceipt receipt = session.commit();
    receipt
        .durable()
        .whenComplete(
            (done, error) -> {
              if (error == null) {
                player.becameDurable();
              } else {
                world.stats.error(error);
              }
            });
    receipt.awaitQueued(ANSWER);
  }

  /** Logs a player out here and in at the next node. */
  void move(DemoPlayer player) {
    atDesk(
        () -> {
          player.awaitAnswers();
          player.session().close();
          player.loggedOut();
          DemoNode to = next;
          if (to != null) {
            world.stats.moves.increment();
            to.login(player);
          }
        });
  }

  /** Logs a player out for good. */
  void logout(DemoPlayer player) {
    atDesk(
        () -> {
          player.awaitAnswers();
          player.session().close();
          player.loggedOut();
        });
  }

  /**
   * Reads a player who is online here from the next node, as a game master's tool would: every
   * acknowledged change must be there.
   */
  void readElsewhere(DemoPlayer player, Driver back) {
    atDesk(
        () -> {
          player.awaitAnswers();
          DemoNode at = next == null ? this : next;
          compare("at read", player, table -> at.queue.read(player.actor.owner(), table.name()));
          world.stats.reads.increment();
          back.admit(player);
        });
  }

  private interface Reading {
    List<Row> rows(Table table);
  }

  private void compare(String where, DemoPlayer player, Reading reading) {
    List<Row> found = new ArrayList<>();
    String kind = OwnerId.of(player.actor.owner()).kind();
    world.game.tables().stream()
        .filter(table -> table.ownerKind().equals(kind))
        .forEach(table -> found.addAll(reading.rows(table)));
    world.mismatches.compare(where, player.actor.rows(), found);
  }

  private interface DeskWork {
    void run() throws InterruptedException;
  }

  private void atDesk(DeskWork work) {
    world.atDesks.incrementAndGet();
    desk.execute(
        () -> {
          try {
            work.run();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          } catch (RuntimeException e) {
            world.stats.error(e);
          } finally {
            world.atDesks.decrementAndGet();
          }
        });
  }

  /** Waits until all of this node is in MySQL; returns the keys of rows that are not. */
  Set<String> drain(Duration timeout) {
    return queue.drain(timeout);
  }

  @Override
  public void close() {
    desk.shutdownNow();
    try {
      desk.awaitTermination(5, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    queue.close();
  }
}
