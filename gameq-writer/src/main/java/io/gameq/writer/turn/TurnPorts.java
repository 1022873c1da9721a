package io.gameq.writer.turn;

import io.gameq.GameQueueException;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.redis.ControlConnection.RedisConnection;
import io.gameq.redis.Slots;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.writer.turn.AfterFlush.TurnContext;
import java.util.List;

/** What the steps of one turn reach. Used by one thread. */
public interface TurnPorts {
  Slots slots();

  /** What a claim brought of a slot; a slot may be claimed from several times in a turn. */
  void claimed(int slot, ClaimScript.Batch batch);

  /**
   * A flush of several owners took its time: it committed, or a statement took too long.
   *
   * @param beganNanos by System.nanoTime
   */
  default void flushed(long beganNanos, int owners, int rows) {}

  /** Nothing can be claimed in one slot; the others go on. */
  void failed(int slot, GameQueueException why);

  /** The number of the term of the primary that is claimed from. */
  long term();

  /** The connection to that very primary. */
  RedisConnection claimsFrom();

  /** The same, or a new one where it broke. */
  RedisConnection redis();

  /** Gives the connection up: its primary does not count any more. */
  void leave();

  /** Tells whether other halves of handovers may come. */
  FlushTransaction.Halves halves();

  /** Has owners flushed apart who held up others before; false when there is no room. */
  boolean takeSuspects(List<Claim> suspects);

  /**
   * Has a batch flushed apart of which one owner held up the others; false when there is no room.
   */
  boolean takeBatch(List<Claim> batch);

  TurnContext context();
}
