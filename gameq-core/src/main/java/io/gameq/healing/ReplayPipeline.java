package io.gameq.healing;

import io.gameq.GameQueueException;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SessionKeys;
import io.gameq.redis.script.CommitScript;
import io.gameq.redis.script.LuaScript;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Replay scripts on their way to Redis, many at a time, in order. One thread. */
final class ReplayPipeline {
  private static final Logger LOG = LoggerFactory.getLogger(ReplayPipeline.class);

  /** Scripts on their way at a time; more only takes memory. */
  private static final int MOST_IN_FLIGHT = 256;

  private static final int MOST_BYTES_IN_FLIGHT = 4 << 20;
  private static final int FLUSH_EVERY = 64;

  private static final long NOT_OWNER = 0;

  private final RedisConnection redis;
  private final Deque<Sent> inFlight = new ArrayDeque<>();
  private int bytesInFlight;
  private int unflushed;
  private @Nullable RefusedRecord refusal;

  private record Sent(
      CompletionStage<List<Object>> reply, CommitScript.Arguments record, int bytes) {}

  /** The first record that Redis refused, and the session that does not own there. */
  record RefusedRecord(long sequence, SessionName session) {}

  /** Over a connection that knows {@link CommitScript}. */
  ReplayPipeline(RedisConnection redis) {
    this.redis = redis;
  }

  /** Sends a record; waits while too much is on its way. */
  void send(CommitScript.Arguments record) {
    int bytes = record.bytes();
    inFlight.add(new Sent(CommitScript.send(redis, record), record, bytes));
    bytesInFlight += bytes;
    if (++unflushed == FLUSH_EVERY) {
      flush();
    }
    while (inFlight.size() > MOST_IN_FLIGHT || bytesInFlight > MOST_BYTES_IN_FLIGHT) {
      awaitFirst();
    }
  }

  /** What Redis refused; null when it took all that it has answered. */
  @Nullable RefusedRecord refusal() {
    return refusal;
  }

  /** Waits for all that is on its way. */
  void finish() {
    while (!inFlight.isEmpty()) {
      awaitFirst();
    }
  }

  private void flush() {
    redis.flush();
    unflushed = 0;
  }

  private void awaitFirst() {
    flush();
    Sent first = inFlight.remove();
    bytesInFlight -= first.bytes;
    List<Object> reply = reply(first);
    if (reply == null) {
      if (first.record.messages() != null) { // what is broken may be a topic's
        send(first.record.withoutMessages());
      }
      return;
    }
    long answer = (Long) reply.get(0);
    if (answer == NOT_OWNER && refusal == null) {
      SessionKeys keys = first.record.parts().get(((Long) reply.get(1)).intValue()).keys();
      refusal =
          new RefusedRecord(
              first.record.sequence(),
              new SessionName(LuaScript.string(keys.owner), LuaScript.string(keys.session)));
    }
  }

  /** Null when somebody else broke the key: then no commit can be put there. */
  private static @Nullable List<Object> reply(Sent of) {
    try {
      return of.reply.toCompletableFuture().join();
    } catch (CompletionException e) {
      String message = RedisReply.answered(e);
      if (message != null && message.startsWith("WRONGTYPE")) {
        LOG.error("cannot replay WAL record {}: {}", of.record.sequence(), message);
        return null;
      }
      throw new GameQueueException(
          "the replay stopped at WAL record " + of.record.sequence() + ": " + e.getMessage(), e);
    }
  }
}
