package io.gameq.node;

import io.gameq.QueueFullException;
import io.gameq.change.Commit;
import io.gameq.config.WhenCommitFails;
import io.gameq.durability.Callbacks;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import io.gameq.owner.SessionRef;
import io.gameq.topic.Limits;
import io.gameq.view.GameRows;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * What sessions and their commits use of a node: one with servers, or one in memory for a game's
 * unit tests. Thread-safe.
 */
public interface SessionHost {
  GameRows rows();

  Limits limits();

  /** What becomes of a session of which a commit failed. */
  WhenCommitFails whenCommitFails();

  /** How many slots the namespace has. */
  int slots();

  /** Names this start of the node. */
  String process();

  /** What may not be in MySQL yet. */
  NodeSessions sessions();

  /** Run the game's own code. */
  Callbacks callbacks();

  /** The end of the time that a call has that begins now, by System.nanoTime. */
  long deadline();

  /** Whether the game has closed the node. */
  boolean isClosed();

  /** Throws ClosedException once the game has closed the node. */
  void requireOpen();

  /** Waits until the backlog takes more. Throws PushBackException when it does not in time. */
  void admit(long deadlineNanos);

  /**
   * Sends a commit on its way; it is told what becomes of it.
   *
   * @throws QueueFullException when there was no room in time: it is told nothing
   */
  void submit(Commit commit, long deadlineNanos);

  /** Somebody waits for what was submitted. */
  void hurry();

  /** What is known of writers, in a sentence, for who waits for MySQL in vain; returns at once. */
  CompletableFuture<String> writers();

  /** This node is about to send rows by an inbox that it did not know. */
  void registerInbox(SessionRef inbox, DurableTracker tracker);

  /** Has what these changed flushed soon. */
  void flushNow(List<SessionRef> of);

  /** Waits until MySQL has all of these, or the time is up. */
  void awaitDurable(List<DurableTracker> of, Duration timeout);

  /** Gives a session up once Redis has all of it. Throws GameQueueException when it is late. */
  void close(DurableTracker session, long deadlineNanos);
}
