package io.gameq.lab.demo;

import io.gameq.OwnerSession;
import io.gameq.lab.demo.game.DemoActor;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A player who is online at one node, offline, or between nodes. One thread at a time has it; it is
 * handed on through queues.
 */
final class DemoPlayer {
  /** Commits of one player that may wait for Redis: bounds memory. */
  private static final int MOST_OUTSTANDING = 16;

  private static final long ANSWER_SECONDS = 30;

  final DemoActor actor;

  /** The commits of this player that may still be made before one is answered. */
  private final Semaphore room = new Semaphore(MOST_OUTSTANDING);

  private @Nullable OwnerSession session;
  private boolean created;
  private volatile boolean durable;

  DemoPlayer(DemoActor actor) {
    this.actor = actor;
  }

  OwnerSession session() {
    return Objects.requireNonNull(session, "the player is offline");
  }

  boolean online() {
    return session != null;
  }

  /** Whether it has rows at all. */
  boolean created() {
    return created;
  }

  void loggedIn(OwnerSession opened) {
    session = opened;
    created = true;
  }

  void loggedOut() {
    session = null;
  }

  /**
   * Whether its own row is in MySQL: a row that is given to this player refers to it by a foreign
   * key.
   */
  boolean durable() {
    return durable;
  }

  void becameDurable() {
    durable = true;
  }

  /** Waits for room for one more commit. */
  void begin() throws InterruptedException {
    acquire(1);
  }

  /** A commit was answered. */
  void answered() {
    room.release();
  }

  /** Waits until every commit of this player was answered. */
  void awaitAnswers() throws InterruptedException {
    acquire(MOST_OUTSTANDING);
    room.release(MOST_OUTSTANDING);
  }

  private void acquire(int permits) throws InterruptedException {
    if (!room.tryAcquire(permits, ANSWER_SECONDS, TimeUnit.SECONDS)) {
      throw new DemoFailure(
          "commits of %s were not answered within %s s".formatted(actor.owner(), ANSWER_SECONDS));
    }
  }
}
