package io.gameq.lab.contender.gameq;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.config.GameQueueConfig;
import io.gameq.config.Takeover;
import io.gameq.lab.load.Acknowledgement;
import io.gameq.lab.load.GameThreads;
import io.gameq.lab.load.Threads;
import io.gameq.lab.workload.Actions;
import io.gameq.lab.workload.BenchRow;
import io.gameq.lab.workload.Fill;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** A game node whose players stay logged in. A player is used by one thread at a time. */
public final class GameqNode implements GameThreads, AutoCloseable {
  private static final String OWNER_KIND = "player";
  private static final int DIGITS = 3;

  /** What a commit takes by default. */
  private static final int MOST_ROWS_PER_COMMIT = 1_000;

  private static final int MOST_BYTES_PER_COMMIT = 4 << 20;

  private final GameQueue queue;
  private final AtomicReferenceArray<@Nullable OwnerSession> sessions;
  private final Acknowledges acknowledges;

  /** When an action is acknowledged. */
  public enum Acknowledges {
    /** The death of the process does not lose it. */
    JOURNALED("the WAL of the node has it"),
    /** The loss of the host does not lose it either. */
    QUEUED("Redis has it");

    private final String where;

    Acknowledges(String where) {
      this.where = where;
    }

    String where() {
      return where;
    }
  }

  /** Starts it; nobody is logged in. */
  public GameqNode(GameQueueConfig config, int players, Acknowledges acknowledges) {
    queue = GameQueue.open(config);
    sessions = new AtomicReferenceArray<>(players);
    this.acknowledges = acknowledges;
  }

  Acknowledges acknowledges() {
    return acknowledges;
  }

  /** The node itself. */
  public GameQueue queue() {
    return queue;
  }

  /** Logs all players in, with some threads; returns what each login took, ns. */
  public Histogram login(int threads) throws InterruptedException {
    Histogram nanos = new ConcurrentHistogram(DIGITS);
    AtomicInteger next = new AtomicInteger();
    Threads.run(
        threads,
        "login",
        thread -> {
          for (int player; (player = next.getAndIncrement()) < sessions.length(); ) {
            long began = System.nanoTime();
            session(player);
            nanos.recordValue(System.nanoTime() - began);
          }
        });
    return nanos;
  }

  /** Logs all players in again, all at once; returns what each waited, ns. */
  public Histogram loginAtOnce() {
    Histogram nanos = new ConcurrentHistogram(DIGITS);
    long began = System.nanoTime();
    List<CompletableFuture<Void>> all = new ArrayList<>(sessions.length());
    for (int i = 0; i < sessions.length(); i++) {
      int player = i;
      all.add(
          queue
              .openAsync(OWNER_KIND + ":" + player, Takeover.ALWAYS)
              .thenAccept(
                  session -> {
                    nanos.recordValue(System.nanoTime() - began);
                    session.forgetLoaded();
                    sessions.set(player, session);
                  })
              .toCompletableFuture());
    }
    all.forEach(CompletableFuture::join);
    return nanos;
  }

  /** Forgets all sessions, so that {@link #login} opens them again. */
  public void forgetSessions() {
    for (int player = 0; player < sessions.length(); player++) {
      sessions.set(player, null);
    }
  }

  private OwnerSession session(int player) {
    OwnerSession session = sessions.get(player);
    if (session == null) {
      session = queue.open(OWNER_KIND + ":" + player);
      session.forgetLoaded();
      sessions.set(player, session);
    }
    return session;
  }

  /** Does an action: stages its rows and commits them; returns at once. */
  public CommitReceipt act(Actions action) {
    OwnerSession session = session((int) action.player());
    for (int i = 0; i < action.rows(); i++) {
      if (action.isDelete(i)) {
        session.delete(BenchRow.class, action.player(), action.slot(i));
      } else {
        session.put(action.row(i));
      }
    }
    return session.commit();
  }

  /** Writes all rows of a player that belong to a fill, in as few commits as they fit in. */
  public List<CommitReceipt> write(Fill fill, int player, long pass) {
    OwnerSession session = session(player);
    List<CommitReceipt> receipts = new ArrayList<>();
    int staged = 0;
    int bytes = 0;
    for (int slot = 0; slot < fill.rowsOf(player); slot++) {
      BenchRow row = fill.row(player, slot, pass);
      session.put(row);
      bytes += row.payload().length;
      if (++staged == MOST_ROWS_PER_COMMIT || bytes >= MOST_BYTES_PER_COMMIT) {
        receipts.add(session.commit());
        staged = 0;
        bytes = 0;
      }
    }
    if (staged > 0) {
      receipts.add(session.commit());
    }
    return receipts;
  }

  private void handOver(int player) {
    OwnerSession session = sessions.getAndSet(player, null);
    if (session != null) {
      session.close();
    }
    session(player);
  }

  @Override
  public GameThread gameThread(int thread) {
    return new GameThread() {
      @Override
      public Acknowledgement perform(Actions action) {
        CommitReceipt receipt = act(action);
        return acknowledges == Acknowledges.QUEUED
            ? new Queued(receipt)
            : Acknowledgement.of(receipt.journaled());
      }

      @Override
      public void handOver(long player) {
        GameqNode.this.handOver((int) player);
      }
    };
  }

  /** A thread that waits is woken by the sender, not by way of the thread for callbacks. */
  private record Queued(CommitReceipt receipt) implements Acknowledgement {
    @Override
    public void await(Duration limit) {
      receipt.awaitQueued(limit);
    }

    @Override
    public CompletableFuture<Void> future() {
      return receipt.queued();
    }
  }

  /** Waits until this node knows that all is in MySQL; returns how many rows it does not know. */
  public int settle(Duration timeout) {
    return queue.drain(timeout).size();
  }

  @Override
  public void close() {
    queue.close();
  }
}
