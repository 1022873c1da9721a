package io.gameq.redis.script;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.CommitPart;
import io.gameq.owner.SessionRef;
import io.gameq.redis.BytesArgs;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SessionKeys;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.TransactionDiscardedException;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.MultiOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Commits that travel to Redis together: many in one MULTI/EXEC of plain commands, or one as a
 * script. Built and sent by the sender's thread; {@link #outcome} may be asked when {@link #send}'s
 * stage completed.
 */
public final class CommitGroup {
  /** What became of one commit of a group. */
  public sealed interface Outcome {}

  /** Redis holds it. */
  record Applied() implements Outcome {}

  /**
   * Redis knows another session, or none; what follows is decided by {@code
   * io.gameq.commit.GroupSettlement}.
   */
  public record NotOwner(CommitPart part, @Nullable String ownedBy, boolean written)
      implements Outcome {
    /** Whether a newer session owns; otherwise Redis has forgotten this one. */
    public boolean isNewer() {
      return ownedBy != null && ownedBy.compareTo(part.session().id().text()) > 0;
    }
  }

  /** Redis refused it, and holds nothing of it. */
  public record RefusedBy(String message) implements Outcome {}

  /** Redis took the rows and refused something beside them: they may or may not be flushed. */
  public record TakenInPart(String message) implements Outcome {}

  private static final ByteArrayCodec CODEC = ByteArrayCodec.INSTANCE;
  private static final Outcome APPLIED = new Applied();
  private static final byte[] LT = SlotKeys.bytes("LT");

  /** The place of MGET's reply in EXEC's answer. */
  private static final int OWNS = 0;

  private final List<Commit> commits;
  private final Function<CommitPart, SessionKeys> keysOf;
  private final byte[] walId;
  private final long dueMillis;
  private final List<OfSession> ofCommits = new ArrayList<>();

  private @Nullable TransactionResult exec;
  private @Nullable List<Object> script;
  private Collection<RedisCommand<byte[], byte[], ?>> sent = List.of();

  /**
   * What the group changes of one session, its number in the answer to MGET, and where in EXEC's
   * answer its other replies stand.
   */
  private static final class OfSession {
    final SessionKeys keys;
    List<ChangedRow> rows;
    boolean merged;
    boolean urgent;
    int number;
    int dirty;
    int due;

    OfSession(SessionKeys keys, List<ChangedRow> rows) {
      this.keys = keys;
      this.rows = rows;
    }

    /** Of a row that several commits change, Redis needs the last image only. */
    void add(List<ChangedRow> more) {
      if (!merged) {
        rows = new ArrayList<>(rows);
        merged = true;
      }
      rows.addAll(more);
    }

    Iterable<ChangedRow> lastImages() {
      if (!merged) {
        return rows;
      }
      Map<String, ChangedRow> last = new LinkedHashMap<>();
      rows.forEach(row -> last.put(row.key(), row));
      return last.values();
    }
  }

  /** What the group changes in one slot. */
  private static final class OfSlot {
    final List<OfSession> sessions = new ArrayList<>();
    long newestSequence;
  }

  public CommitGroup(
      List<Commit> commits,
      Function<CommitPart, SessionKeys> keysOf,
      byte[] walId,
      long dueMillis) {
    this.commits = commits;
    this.keysOf = keysOf;
    this.walId = walId;
    this.dueMillis = dueMillis;
  }

  public List<Commit> commits() {
    return commits;
  }

  /**
   * Writes the commands to a connection that flushes by itself; the stage completes when the reply
   * is there or cannot come any more.
   */
  public CompletionStage<?> send(RedisConnection redis) {
    return commits.get(0).isSpanning() ? sendAsScript(redis) : sendMulti(redis);
  }

  private CompletionStage<?> sendMulti(RedisConnection redis) {
    Map<SessionRef, OfSession> sessions = new HashMap<>();
    Map<SlotKeys, OfSlot> slots = new LinkedHashMap<>();
    for (Commit commit : commits) {
      CommitPart part = commit.parts().get(0);
      OfSession of = sessions.get(part.session());
      if (of != null) {
        of.add(part.rows());
      } else {
        of = new OfSession(keysOf.apply(part), part.rows());
        sessions.put(part.session(), of);
        slots.computeIfAbsent(of.keys.slot, s -> new OfSlot()).sessions.add(of);
      }
      of.urgent |= commit.isUrgent();
      ofCommits.add(of);
      Objects.requireNonNull(slots.get(of.keys.slot)).newestSequence = commit.sequence();
    }
    List<RedisCommand<byte[], byte[], ?>> commands = new ArrayList<>();
    commands.add(new AsyncCommand<>(new Command<>(CommandType.MULTI, new StatusOutput<>(CODEC))));
    BytesArgs owns = new BytesArgs(sessions.size());
    commands.add(new Command<>(CommandType.MGET, new ValueListOutput<>(CODEC), owns));
    int number = 0;
    for (Map.Entry<SlotKeys, OfSlot> of : slots.entrySet()) {
      for (OfSession session : of.getValue().sessions) {
        session.number = number++;
        owns.and(session.keys.own);
      }
      addWrites(commands, of.getKey(), of.getValue());
    }
    AsyncCommand<byte[], byte[], TransactionResult> end =
        new AsyncCommand<>(new Command<>(CommandType.EXEC, new MultiOutput<>(CODEC)));
    commands.add(end);
    sent = redis.dispatch(commands); // together: one buffer, one write
    return end.thenAccept(result -> exec = result);
  }

  /** HSET dirty of each session, ZADD due and HSET journal, each joined over the slot's commits. */
  private void addWrites(List<RedisCommand<byte[], byte[], ?>> to, SlotKeys keys, OfSlot slot) {
    BytesArgs due = new BytesArgs(2 + 2 * slot.sessions.size()).and(keys.due()).and(LT);
    byte[] dueAt = dueAt(false);
    int replies = to.size() - 1; // MULTI has no place in the answer of EXEC
    for (OfSession of : slot.sessions) {
      of.dirty = replies++;
      BytesArgs rows = new BytesArgs(1 + 2 * of.rows.size()).and(of.keys.dirty);
      for (ChangedRow row : of.lastImages()) {
        rows.and(row.keyBytes()).and(row.image());
      }
      to.add(new Command<>(CommandType.HSET, new IntegerOutput<>(CODEC), rows));
      due.and(of.urgent ? dueAt(true) : dueAt).and(of.keys.dueMember);
    }
    for (OfSession of : slot.sessions) {
      of.due = replies;
    }
    to.add(new Command<>(CommandType.ZADD, new IntegerOutput<>(CODEC), due));
    to.add(
        new Command<>(
            CommandType.HSET,
            new IntegerOutput<>(CODEC),
            new BytesArgs(3)
                .and(keys.journal())
                .and(walId)
                .and(SlotKeys.bytes(Long.toString(slot.newestSequence)))));
  }

  private byte[] dueAt(boolean isUrgent) {
    return SlotKeys.bytes(Long.toString(isUrgent ? DueSessions.urgent(dueMillis) : dueMillis));
  }

  /**
   * Sends the only commit of this group as {@code commit.lua}, by its text: in a pipeline a
   * forgotten script could not be loaded in time.
   */
  public CompletionStage<?> sendAsScript(RedisConnection redis) {
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
    CompletionStage<List<Object>> reply =
        CommitScript.sendText(
            redis,
            new CommitScript.Arguments(
                walId,
                commit.sequence(),
                commit.isUrgent() ? DueSessions.urgent(dueMillis) : dueMillis,
                parts));
    return reply.thenAccept(answer -> script = answer);
  }

  /** Whether Redis answered EXEC with nothing, having discarded the transaction. */
  public boolean wasDiscarded() {
    return exec != null && exec.wasDiscarded();
  }

  /**
   * Why EXEC failed or was discarded: the answer to the command that Redis refused to queue, if it
   * answered one; nothing of the group was applied then. Else {@code error}, the connection's.
   */
  public Throwable whyFailed(@Nullable Throwable error) {
    for (RedisCommand<byte[], byte[], ?> command : sent) {
      if (command instanceof AsyncCommand<?, ?, ?> answer && answer.isCompletedExceptionally()) {
        String refusal = answer.handle((ignored, refused) -> RedisReply.answered(refused)).join();
        if (refusal != null) {
          return new TransactionDiscardedException(refusal);
        }
      }
    }
    return error != null
        ? error
        : new TransactionDiscardedException("Redis discarded the transaction");
  }

  /** What became of commit {@code i}, once the group's reply is there. */
  public Outcome outcome(int i) {
    return script != null ? scriptOutcome(commits.get(i), script) : multiOutcome(i);
  }

  private static Outcome scriptOutcome(Commit commit, List<Object> reply) {
    if ((Long) reply.get(0) == 1) {
      return APPLIED;
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
    CommitPart part = commits.get(i).parts().get(0);
    OfSession of = ofCommits.get(i);
    if (exec.get(of.dirty) instanceof Throwable error) {
      return new RefusedBy(String.valueOf(error.getMessage()));
    }
    for (int reply : new int[] {OWNS, of.due}) {
      if (exec.get(reply) instanceof Throwable error) {
        return new TakenInPart(String.valueOf(error.getMessage()));
      }
    }
    List<byte @Nullable []> owns = exec.get(OWNS);
    byte[] own = owns.get(of.number);
    return Arrays.equals(of.keys.session, own)
        ? APPLIED
        : new NotOwner(part, own == null ? null : new String(own, US_ASCII), true);
  }
}
