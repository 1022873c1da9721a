package io.gameq.node;

import io.gameq.RedisUnavailableException;
import io.gameq.commit.CommitSender;
import io.gameq.owner.OwnerId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.ReadScript;
import io.gameq.rows.EncodedRow;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Waits until this node has healed on the Redis server that its control connection leads to, and
 * returns that connection. Thread-safe.
 *
 * <p>An open before that would miss what an earlier session of this same node is about to put back,
 * and would end that session: a conflict of the node with itself.
 */
public final class ConnectionAfterHealing {
  /** Longer than healing takes that is not held up by a server that is away. */
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /** Between two prods of one open: enough to connect and to heal a little. */
  private static final int LOOKS_PER_PROD = 100;

  private final ControlConnection control;
  private final CommitSender sender;

  public ConnectionAfterHealing(ControlConnection control, CommitSender sender) {
    this.control = control;
    this.sender = sender;
  }

  /**
   * Where this node has healed.
   *
   * @param connections {@link CommitSender#connections} from before that
   * @param term the number of the primary's term, as this node knew it before that
   */
  public record Healed(RedisConnection redis, long connections, long term) {
    @Override
    public String toString() {
      return "after " + connections + " connections, in term " + term;
    }
  }

  /**
   * The connection, through which an owner's unflushed rows were looked at; one that turns out to
   * have broken a moment ago is replaced once.
   *
   * @param isAwaited false once nobody waits for it any more
   * @param look throws when the owner is not to be opened
   * @throws io.gameq.GameQueueException as {@link #get}, and what {@code look} throws
   */
  public Healed getAndLook(
      SlotKeys slot, OwnerId owner, BooleanSupplier isAwaited, Consumer<List<EncodedRow>> look) {
    return RedisReply.againIfBroken(
        () -> {
          Healed healed = get(isAwaited);
          look.accept(control.call(healed.redis(), redis -> ReadScript.call(redis, slot, owner)));
          return healed;
        });
  }

  /**
   * The connection; waits for it for up to ten seconds.
   *
   * @param isAwaited false once nobody waits for it any more: then nor does this
   * @throws RedisUnavailableException when the node has not healed by then
   * @throws io.gameq.GameQueueException as {@link ControlConnection#get}
   */
  public Healed get(BooleanSupplier isAwaited) {
    long deadline = System.nanoTime() + LIMIT_NANOS;
    for (int looks = 0; ; looks++) {
      long connections = sender.connections();
      long term = sender.term();
      ControlConnection.Connected connected = control.connected();
      if (sender.hasHealedOn(connected.runId())) {
        return new Healed(connected.redis(), connections, term);
      }
      if (System.nanoTime() - deadline > 0 || !isAwaited.getAsBoolean()) {
        throw new RedisUnavailableException(
            "this node has not put back yet what Redis lost: try again");
      }
      if (sender.hasConnectedSince(connected.sinceNanos())) {
        control.giveUp(connected.redis()); // the newer of two connections is more likely right
      } else if (looks % LOOKS_PER_PROD == 0) {
        sender.healSoon(connected);
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }
}
