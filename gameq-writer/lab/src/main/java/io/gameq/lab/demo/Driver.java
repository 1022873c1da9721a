package io.gameq.lab.demo;

import io.gameq.CommitReceipt;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread of the game at one node: picks one of its players, lets it act or trade, commits, and
 * does not wait for the answer. Players come through {@link #admit}; all else is for this thread.
 */
final class Driver implements Runnable {
  /** Of a thousand turns: these move a player, have it read elsewhere, and trade; the rest act. */
  private static final int MOVES = 4;

  private static final int READS = 2;
  private static final int TRADES = 60;

  /** Commits of this thread that may wait for Redis: bounds memory. */
  private static final int MOST_OUTSTANDING = 256;

  private static final long IDLE_MILLIS = 5;

  /** A driver that fell behind its pace by more does not catch up: no burst after a pause. */
  private static final long MOST_BEHIND_NANOS = 50_000_000;

  private final DemoNode node;
  private final DemoStats stats;
  private final Random random;
  private final long nanosPerCommit;
  private final Queue<DemoPlayer> arriving = new ConcurrentLinkedQueue<>();
  private final List<DemoPlayer> players = new ArrayList<>();
  private final Semaphore room = new Semaphore(MOST_OUTSTANDING);
  private volatile boolean stopped;

  /**
   * A driver.
   *
   * @param nanosPerCommit its pace; 0: as fast as it can
   */
  Driver(DemoNode node, DemoStats stats, Random random, long nanosPerCommit) {
    this.node = node;
    this.stats = stats;
    this.random = random;
    this.nanosPerCommit = nanosPerCommit;
  }

  /** Hands a player over to this thread. Any thread. */
  void admit(DemoPlayer player) {
    arriving.add(player);
  }

  /** Ends after the current turn. Any thread. */
  void stop() {
    stopped = true;
  }

  @Override
  public void run() {
    long next = System.nanoTime();
    try {
      while (!stopped) {
        for (DemoPlayer player; (player = arriving.poll()) != null; ) {
          players.add(player);
        }
        if (players.isEmpty()) {
          TimeUnit.MILLISECONDS.sleep(IDLE_MILLIS);
          next = System.nanoTime();
        } else {
          turn();
          next = keepPace(next);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      stats.error(e);
    }
  }

  /** The players that are left here once the thread has ended. */
  List<DemoPlayer> remaining() {
    List<DemoPlayer> all = new ArrayList<>(players);
    all.addAll(arriving);
    return all;
  }

  private long keepPace(long due) {
    long next = Math.max(due + nanosPerCommit, System.nanoTime() - MOST_BEHIND_NANOS);
    for (long left; !stopped && (left = next - System.nanoTime()) > 0; ) {
      LockSupport.parkNanos(left);
    }
    return next;
  }

  private void turn() throws InterruptedException {
    int index = hot();
    DemoPlayer player = players.get(index);
    int dice = random.nextInt(1_000);
    if (dice < MOVES) {
      leave(index);
      node.move(player);
    } else if (dice < MOVES + READS) {
      leave(index);
      node.readElsewhere(player, this);
    } else if (dice < MOVES + READS + TRADES) {
      trade(player, players.get(random.nextInt(players.size())));
    } else {
      player.begin();
      int rows = player.actor.act(player.session());
      commit(rows, List.of(player));
    }
  }

  /** A few players act far more often than the rest, which is what makes rows merge. */
  private int hot() {
    double skewed = Math.pow(random.nextDouble(), 3);
    return (int) (skewed * players.size());
  }

  private void leave(int index) {
    players.set(index, players.get(players.size() - 1));
    players.remove(players.size() - 1);
  }

  private void trade(DemoPlayer from, DemoPlayer to) throws InterruptedException {
    if (from == to || !from.durable() || !to.durable()) {
      return;
    }
    from.begin();
    to.begin();
    int rows = from.actor.trade(from.session(), to.actor, to.session());
    if (rows > 0) {
      stats.trades.increment();
    }
    commit(rows, List.of(from, to));
  }

  private void commit(int rows, List<DemoPlayer> of) throws InterruptedException {
    room.acquire();
    long began = System.nanoTime();
    CommitReceipt receipt = node.commit(of);
    receipt
        .queued()
        .whenComplete(
            (done, error) -> {
              if (error == null) {
                stats.queued(System.nanoTime() - began);
              } else {
                stats.error(error);
              }
              room.release();
              of.forEach(DemoPlayer::answered);
            });
    if (rows > 0) {
      stats.commits.increment();
      stats.rowChanges.add(rows);
    }
  }
}
