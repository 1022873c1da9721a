package io.gameq.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.commit.ChangedRow;
import io.gameq.commit.Commit;
import io.gameq.commit.CommitPart;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Commits that travel to Redis together: many in one MULTI/EXEC of plain commands, or one as a
 * script. Built and sent by the sender's thread; {@link #outcome} may be asked when {@link #send}'s
 * stage completed.
 */
final class CommitGroup {
  /** What became of one commit of a group. */
  sealed interface Outcome {}

  /** Redis holds it. */
  record Applied() implements Outcome {}

  /** Redis knows another session, or none; see {@link CommitSender} for what follows. */
  record NotOwner(CommitPart part, @Nullable String ownedBy, boolean written) implements Outcome {
    /** Whether a newer session owns; otherwise Redis has forgotten this one. */
    boolean isNewer() {
      return ownedBy != null && ownedBy.compareTo(part.session().id().text()) > 0;
    }
  }

  /** Redis refused it, and holds nothing of it. */
  record RefusedBy(String message) implements Outcome {}

  /** Redis took the rows and refused something beside them: they may or may not be flushed. */
  record TakenInPart(String message) implements Outcome {}

  private final List<Commit> commits;
  private final Function<CommitPart, SessionKeys> keysOf;
  private final byte[] walId;
  private final long dueMillis;

  private @Nullable TransactionResult exec;
  private @Nullable List<Object> script;
  private final List<RedisFuture<?>> queuedInMulti = new ArrayList<>();

  CommitGroup(
      List<Commit> commits,
      Function<CommitPart, SessionKeys> keysOf,
      byte[] walId,
      long dueMillis) {
    this.commits = commits;
    this.keysOf = keysOf;
    this.walId = walId;
    this.dueMillis = dueMillis;
  }

  List<Commit> commits() {
    return commits;
  }

  /**
   * Writes the commands to the connection and flushes; the stage completes when the reply is there
   * or cannot come any more.
   */
  CompletionStage<?> send(StatefulRedisConnection<byte[], byte[]> redis) {
    CompletionStage<?> reply =
        commits.get(0).isSpanning() ? sendAsScript(redis) : sendMulti(redis.async());
    redis.flushCommands();
    return reply;
  }

  private CompletionStage<?> sendMulti(RedisAsyncCommands<byte[], byte[]> redis) {
    redis.multi();
    Map<SlotKeys, Long> marks = new LinkedHashMap<>();
    for (Commit commit : commits) {
      CommitPart part = commit.parts().get(0);
      SessionKeys keys = keysOf.apply(part);
      redis.get(keys.own);
      CommandArgs<byte[], byte[]> rows =
          new CommandArgs<>(ByteArrayCodec.INSTANCE).addKey(keys.dirty);
      for (ChangedRow row : part.rows()) {
        rows.addValue(row.keyBytes()).addValue(row.image());
      }
      queuedInMulti.add(
          redis.dispatch(CommandType.HSET, new IntegerOutput<>(ByteArrayCodec.INSTANCE), rows));
      CommandArgs<byte[], byte[]> due =
          new CommandArgs<>(ByteArrayCodec.INSTANCE)
              .addKey(keys.slot.due())
              .add("LT")
              .add(dueMillis)
              .addValue(keys.dueMember);
      redis.dispatch(CommandType.ZADD, new IntegerOutput<>(ByteArrayCodec.INSTANCE), due);
      marks.put(keys.slot, commit.sequence());
    }
    marks.forEach(
        (slot, sequence) ->
            redis.hset(slot.journal(), walId, SlotKeys.bytes(Long.toString(sequence))));
    return redis.exec().thenAccept(result -> exec = result);
  }

  /**
   * Sends the only commit of this group as {@code commit.lua}, by its text: in a pipeline a
   * forgotten script could not be loaded in time.
   */
  CompletionStage<?> sendAsScript(StatefulRedisConnection<byte[], byte[]> redis) {
    Commit commit = commits.get(0);
    List<CommitScript.Part> parts = new ArrayList<>();
    for (CommitPart part : commit.parts()) {
      List<byte[]> rows = new ArrayList<>(2 * part.rows().size());
      for (ChangedRow row : part.rows()) {
        rows.add(row.keyBytes());
        rows.add(row.image());
      }
      parts.add(new CommitScript.Part(keysOf.apply(part), rows));
    }
    RedisFuture<List<Object>> reply =
        CommitScript.sendText(
            redis, new CommitScript.Arguments(walId, commit.sequence(), dueMillis, parts));
    return reply.thenAccept(answer -> script = answer);
  }

  /** Whether Redis answered EXEC with nothing, having discarded the transaction. */
  boolean wasDiscarded() {
    return exec != null && exec.wasDiscarded();
  }

  /**
   * Why EXEC failed or was discarded: the answer to the command that Redis refused to queue, if it
   * answered one; nothing of the group was applied then. Else {@code error}, the connection's.
   */
  Throwable whyFailed(@Nullable Throwable error) {
    for (RedisFuture<?> queued : queuedInMulti) {
      CompletableFuture<?> answer = queued.toCompletableFuture();
      if (answer.isCompletedExceptionally()) {
        String refusal = answer.handle((ignored, refused) -> RedisReply.answered(refused)).join();
        if (refusal != null) {
          return new GroupDiscarded(refusal);
        }
      }
    }
    return error != null ? error : new GroupDiscarded("Redis discarded the transaction");
  }

  /** A MULTI that Redis discarded as a whole: nothing of it was applied. */
  static final class GroupDiscarded extends RuntimeException {
    private static final long serialVersionUID = 1L;

    GroupDiscarded(String message) {
      super(message);
    }
  }

  /** What became of commit {@code i}, once the group's reply is there. */
  Outcome outcome(int i) {
    return script != null ? scriptOutcome(commits.get(i), script) : multiOutcome(i);
  }

  private static Outcome scriptOutcome(Commit commit, List<Object> reply) {
    if ((Long) reply.get(0) == 1) {
      return new Applied();
    }
    String ownedBy = LuaScript.string(reply.get(2));
    return new NotOwner(
        commit.parts().get(((Long) reply.get(1)).intValue()),
        ownedBy.isEmpty() ? null : ownedBy,
        false);
  }

  private Outcome multiOutcome(int i) {
    if (exec == null || exec.wasDiscarded()) {
      return new RefusedBy("Redis discarded the transaction");
    }
    if (exec.get(3 * i + 1) instanceof Throwable error) { // HSET
      return new RefusedBy(String.valueOf(error.getMessage()));
    }
    for (int reply : new int[] {3 * i, 3 * i + 2}) { // GET, ZADD
      if (exec.get(reply) instanceof Throwable error) {
        return new TakenInPart(String.valueOf(error.getMessage()));
      }
    }
    byte[] own = exec.get(3 * i);
    CommitPart part = commits.get(i).parts().get(0);
    String ownedBy = own == null ? null : new String(own, US_ASCII);
    return part.session().id().text().equals(ownedBy)
        ? new Applied()
        : new NotOwner(part, ownedBy, true);
  }
}
