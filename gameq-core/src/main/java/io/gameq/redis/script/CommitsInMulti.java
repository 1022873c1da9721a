package io.gameq.redis.script;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.RedisReply.TransactionDiscardedException;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.SlotKeys.SessionKeys;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import io.gameq.redis.script.LuaScript.BytesArgs;
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
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Commits of rows, each of one session, in one MULTI/EXEC of plain commands. As {@link
 * CommitGroup}.
 */
final class CommitsInMulti extends CommitGroup {
  private static final ByteArrayCodec CODEC = ByteArrayCodec.INSTANCE;
  private static final byte[] LT = SlotKeys.bytes("LT");

  /** The place of MGET's reply in EXEC's answer. */
  private static final int OWNS = 0;

  private final Map<SlotKeys, OfSlot> slots = new LinkedHashMap<>();
  private final List<OfSession> ofCommits;
  private final Map<Integer, Long> before;

  private @Nullable TransactionResult exec;
  private Collection<RedisCommand<byte[], byte[], ?>> sent = List.of();

  /**
   * What the group changes of one session, its number in the answer to MGET, and where in EXEC's
   * answer that of its rows stands.
   */
  private static final class OfSession {
    final SessionKeys keys;
    final OfSlot slot;
    List<ChangedRow> rows;
    boolean merged;
    boolean urgent;
    int number;
    int dirty;

    OfSession(SessionKeys keys, OfSlot slot, List<ChangedRow> rows) {
      this.keys = keys;
      this.slot = slot;
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

  /**
   * What the group changes in one slot, and where in EXEC's answer that of {@code due} stands: that
   * of its mark follows.
   */
  private static final class OfSlot {
    final int number;
    final List<OfSession> sessions = new ArrayList<>();
    long newestSequence;
    int due;

    OfSlot(int number) {
      this.number = number;
    }
  }

  /** Commits; {@code before}: by slot, the sequence of what follows and may not arrive. */
  CommitsInMulti(List<Commit> commits, CommitGroup.Terms terms, Map<Integer, Long> before) {
    super(commits, terms);
    this.before = before;
    this.ofCommits = new ArrayList<>(commits.size());
  }

  @Override
  public CompletionStage<?> send(RedisConnection redis) {
    Map<SessionRef, OfSession> sessions = new HashMap<>();
    for (Commit commit : commits) {
      CommitPart part = commit.parts().get(0);
      OfSession of = sessions.get(part.session());
      if (of != null) {
        of.add(part.rows());
      } else {
        SessionKeys keys = terms.keysOf().apply(part);
        OfSlot slot = slots.computeIfAbsent(keys.slot, s -> new OfSlot(part.session().slot()));
        of = new OfSession(keys, slot, part.rows());
        sessions.put(part.session(), of);
        slot.sessions.add(of);
      }
      of.urgent |= commit.isUrgent();
      ofCommits.add(of);
      of.slot.newestSequence = commit.sequence();
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

  /**
   * HSET dirty of each session, ZADD due and HINCRBY journal, each joined over the slot's commits.
   */
  private void addWrites(List<RedisCommand<byte[], byte[], ?>> to, SlotKeys keys, OfSlot slot) {
    BytesArgs due = new BytesArgs(2 + 2 * slot.sessions.size()).and(keys.due()).and(LT);
    byte[] dueAt = LuaScript.number(terms.due(false));
    int replies = to.size() - 1; // MULTI has no place in the answer of EXEC
    for (OfSession of : slot.sessions) {
      of.dirty = replies++;
      BytesArgs rows = new BytesArgs(1 + 2 * of.rows.size()).and(of.keys.dirty);
      for (ChangedRow row : of.lastImages()) {
        rows.and(row.keyBytes()).and(row.image());
      }
      to.add(new Command<>(CommandType.HSET, new IntegerOutput<>(CODEC), rows));
      due.and(of.urgent ? LuaScript.number(terms.due(true)) : dueAt).and(of.keys.dueMember);
    }
    slot.due = replies;
    long last = before.getOrDefault(slot.number, Long.MAX_VALUE) - 1;
    SlotMarks.Move move = terms.move(slot.number, Math.min(slot.newestSequence, last));
    moves.add(move);
    to.add(new Command<>(CommandType.ZADD, new IntegerOutput<>(CODEC), due));
    to.add(
        new Command<>(
            CommandType.HINCRBY,
            new IntegerOutput<>(CODEC),
            new BytesArgs(3)
                .and(keys.journal())
                .and(terms.walId())
                .and(LuaScript.number(move.delta()))));
  }

  @Override
  public boolean wasDiscarded() {
    return exec != null && exec.wasDiscarded();
  }

  @Override
  public Throwable whyFailed(@Nullable Throwable error) {
    for (RedisCommand<byte[], byte[], ?> command : sent) {
      if (command instanceof AsyncCommand<?, ?, ?> answer && answer.isCompletedExceptionally()) {
        String refusal = answer.handle((ignored, refused) -> RedisReply.answered(refused)).join();
        if (refusal != null) {
          return new TransactionDiscardedException(refusal);
        }
      }
    }
    return super.whyFailed(error);
  }

  @Override
  public boolean answered() {
    TransactionResult replies = exec;
    if (replies == null || replies.wasDiscarded()) {
      refused();
      return true;
    }
    boolean fits = true;
    Iterator<OfSlot> slot = slots.values().iterator(); // in the order of the moves
    for (SlotMarks.Move move : moves) {
      if (replies.get(slot.next().due + 1) instanceof Long mark) {
        fits &= terms.marks().taken(move, mark - move.delta());
      } else { // somebody else's value is there
        terms.marks().refused(move);
      }
    }
    return fits;
  }

  @Override
  public CommitGroup.Outcome outcome(int i) {
    if (exec == null || exec.wasDiscarded()) {
      return new CommitGroup.RefusedBy("Redis discarded the transaction");
    }
    OfSession of = ofCommits.get(i);
    if (exec.get(of.dirty) instanceof Throwable error) {
      return new CommitGroup.RefusedBy(String.valueOf(error.getMessage()));
    }
    for (int reply : new int[] {OWNS, of.slot.due}) {
      if (exec.get(reply) instanceof Throwable error) {
        return new CommitGroup.TakenInPart(String.valueOf(error.getMessage()));
      }
    }
    List<byte @Nullable []> owns = exec.get(OWNS);
    byte[] own = owns.get(of.number);
    return Arrays.equals(of.keys.session, own)
        ? CommitGroup.APPLIED
        : new CommitGroup.NotOwner(
            commits.get(i).parts().get(0), own == null ? null : new String(own, US_ASCII), true);
  }
}
