package io.gameq.redis.script;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.message.MessageChange;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.RedisReply.TransactionDiscardedException;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.SlotKeys.SessionKeys;
import io.gameq.redis.script.CommitScript.ScriptCommit;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import io.gameq.redis.script.MessagesScript.Mode;
import io.gameq.redis.script.MessagesScript.WalCall;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.MultiOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Commits that travel to Redis together: those of rows in one MULTI/EXEC of plain commands, and
 * those of messages in one script behind it; or spanning ones and those of both, a script each.
 * Built and sent by the sender's thread; {@link #outcome} may be asked when {@link #send}'s stage
 * completed.
 */
public abstract class CommitGroup {
  /** What became of one commit of a group. */
  public sealed interface Outcome {}

  /** Redis holds it, or all that it still has to hold. */
  public record Applied() implements Outcome {}

  /**
   * Redis knows another session, or none; what follows is decided by {@code
   * io.gameq.commit.CommitSender}.
   */
  public record NotOwner(CommitPart part, @Nullable String ownedBy, boolean written)
      implements Outcome {
    /** Whether a newer session owns; otherwise Redis has forgotten this one. */
    public boolean isNewer() {
      return ownedBy != null && ownedBy.compareTo(part.session().id().text()) > 0;
    }
  }

  /** A message, or a row that is sent, was not as it needs it: nothing of it was written. */
  public sealed interface FailedPrecondition extends Outcome {}

  /**
   * Redis has lost something, if only its scripts, and holds nothing of it: it is to be sent again
   * once healed.
   */
  public record Forgotten() implements Outcome {}

  /** Redis refused it, and holds nothing of it. */
  public record RefusedBy(String message) implements Outcome {}

  /**
   * A message that it acknowledges was not held any more under its token: the lease had run out.
   * Nothing of the commit was written.
   */
  public record ClaimLost(String message) implements FailedPrecondition {}

  /** A pending message was not what the commit expected; nothing of the commit was written. */
  public record MessageChanged(String message) implements FailedPrecondition {}

  /**
   * A row that it sends to an owner has the key of one that waits to be flushed; nothing of the
   * commit was written.
   */
  public record RowKeyInUse(OwnerId owner, String row) implements FailedPrecondition {}

  /** Redis took the rows and refused something beside them: they may or may not be flushed. */
  public record PartlyApplied(String message) implements Outcome {}

  static final Outcome APPLIED = new Applied();
  private static final Outcome FORGOTTEN = new Forgotten();

  final List<Commit> commits;
  final WalCall call;
  final SlotMarks marks;
  private final boolean overtakes;
  final List<SlotMarks.Move> moves = new ArrayList<>();

  /** Why Redis refused all of a half of a larger group; null when it did not. */
  private @Nullable String refusal;

  CommitGroup(List<Commit> commits, WalCall call, SlotMarks marks, boolean overtakes) {
    this.commits = commits;
    this.call = call;
    this.marks = marks;
    this.overtakes = overtakes;
  }

  /**
   * A group of commits in WAL order, which all {@linkplain Commit#goesAlone go alone} or none; or
   * one whose answer was lost, or which was refused: as a script, however often.
   *
   * @param marks of the WAL, by slot
   * @param overtakes whether older commits wait to be sent: the marks may not pass them
   */
  public static CommitGroup of(
      List<Commit> commits, WalCall call, SlotMarks marks, boolean overtakes) {
    Commit first = commits.get(0);
    if (first.goesAlone() || (call.mode() == Mode.AGAIN && !first.isOfMessagesAlone())) {
      return new AsScripts(commits, call, marks, overtakes);
    }
    long messages = commits.stream().filter(Commit::isOfMessagesAlone).count();
    if (messages == 0) {
      return new CommitsInMulti(commits, call, marks, overtakes, Map.of());
    }
    return messages == commits.size()
        ? new MessageGroup(commits, call, marks, overtakes, Map.of())
        : new RowsAndMessages(commits, call, marks, overtakes);
  }

  public final List<Commit> commits() {
    return commits;
  }

  /**
   * Writes the commands to a connection that flushes by itself; the stage completes when the reply
   * is there or cannot come any more.
   */
  public abstract CompletionStage<?> send(RedisConnection redis);

  /** Whether a commit whose answer was lost changes messages alone, and Redis has it. */
  public final boolean isThere() {
    Commit commit = commits.get(0);
    return commit.isOfMessagesAlone() && lacking(commit).isEmpty();
  }

  /** Whether Redis answered EXEC with nothing, having discarded the transaction. */
  public boolean wasDiscarded() {
    return false;
  }

  /**
   * Why it failed or was discarded: the answer to the command that Redis refused to queue, if it
   * answered one; nothing of the group was applied then. Else {@code error}, the connection's.
   */
  public Throwable whyFailed(@Nullable Throwable error) {
    return error != null
        ? error
        : new TransactionDiscardedException("Redis discarded the transaction");
  }

  /**
   * Redis answered each commit: notes how far its marks have come. Returns whether they are as
   * expected; else Redis has lost something beneath the connection. To be called once, in the order
   * in which groups were sent.
   */
  public abstract boolean answered();

  /** Redis refused all of the group: it did not move its marks. As {@link #answered}. */
  public void refused() {
    moves.forEach(marks::refused);
  }

  /** What became of commit {@code i}, once the group's reply is there. */
  public abstract Outcome outcome(int i);

  /** Redis' own refusal, which is of these commits; that it is away is so for all, and thrown. */
  private static String refusal(Throwable error) {
    String message = RedisReply.answered(error);
    if (message == null || RedisReply.isAway(message)) {
      throw error instanceof CompletionException of ? of : new CompletionException(error);
    }
    return message;
  }

  /** Where the mark of a slot goes when all up to a sequence has arrived. */
  final SlotMarks.Move move(int slot, long last) {
    return overtakes ? marks.aside(slot, last) : marks.next(slot, last);
  }

  /** A commit as scripts take it: of one that is sent again no messages if Redis took them. */
  final ScriptCommit scripted(Commit commit) {
    return new ScriptCommit(
        commit.sequence(),
        commit.version(),
        commit.isUrgent(),
        commit.parts(),
        call.mode() == Mode.AGAIN ? lacking(commit) : commit.messages());
  }

  private List<MessageChange> lacking(Commit commit) {
    return commit.isNotTaken() || marks.read().wasRefused(commit.sequence(), commit.publishes())
        ? commit.messages()
        : List.of();
  }

  /**
   * Commits that are checked as a whole before anything of them is written, each as {@code
   * commit.lua}: spanning ones, those of rows and messages, and those that are sent again.
   */
  private static final class AsScripts extends CommitGroup {
    private final List<Sent> sent = new ArrayList<>();

    /** A commit, and what became of it; once it was decided, with the marks before it. */
    private static final class Sent {
      final List<SlotMarks.Move> moves;
      Outcome outcome = new RefusedBy("Redis did not answer");
      @Nullable List<Long> before;

      Sent(List<SlotMarks.Move> moves) {
        this.moves = moves;
      }
    }

    AsScripts(List<Commit> commits, WalCall call, SlotMarks marks, boolean overtakes) {
      super(commits, call, marks, overtakes);
    }

    @Override
    public CompletionStage<?> send(RedisConnection redis) {
      if (commits.size() == 1) {
        return send(redis, commits.get(0));
      }
      List<CompletableFuture<?>> replies = new ArrayList<>();
      redis.inOneGo(() -> commits.forEach(commit -> replies.add(send(redis, commit))));
      return CompletableFuture.allOf(replies.toArray(CompletableFuture<?>[]::new));
    }

    private CompletableFuture<@Nullable Void> send(RedisConnection redis, Commit commit) {
      ScriptCommit scripted = scripted(commit);
      Sent one = new Sent(scripted.slots().map(slot -> move(slot, commit.sequence())).toList());
      sent.add(one);
      moves.addAll(one.moves);
      return CommitScript.send(redis, call, one.moves, scripted)
          .<@Nullable Void>handle(
              (answer, error) -> {
                if (error != null) {
                  one.outcome =
                      LuaScript.isForgotten(error) ? FORGOTTEN : new RefusedBy(refusal(error));
                  return null;
                }
                one.outcome = outcome(commit, answer);
                if (answer.get(answer.size() - 1) instanceof List<?> before) {
                  one.before = SlotMarks.marks(before);
                }
                return null;
              })
          .toCompletableFuture();
    }

    private static Outcome outcome(Commit commit, List<Object> reply) {
      return switch (((Long) reply.get(0)).intValue()) {
        case 1 -> APPLIED;
        case 2 -> new ClaimLost(LuaScript.string(reply.get(1)));
        case 3 -> new MessageChanged(LuaScript.string(reply.get(1)));
        case 4 ->
            new RowKeyInUse(
                part(commit, reply).session().owner().base(), LuaScript.string(reply.get(2)));
        case 5 -> FORGOTTEN;
        default -> {
          String ownedBy = LuaScript.string(reply.get(2));
          yield new NotOwner(part(commit, reply), ownedBy.isEmpty() ? null : ownedBy, false);
        }
      };
    }

    private static CommitPart part(Commit commit, List<Object> reply) {
      return commit.parts().get(((Long) reply.get(1)).intValue());
    }

    @Override
    public boolean answered() {
      boolean fits = true;
      for (Sent one : sent) {
        for (int i = 0; i < one.moves.size(); i++) {
          if (one.before == null) {
            marks.refused(one.moves.get(i));
          } else {
            fits &= marks.taken(one.moves.get(i), one.before.get(i));
          }
        }
        fits &= !(one.outcome instanceof Forgotten);
      }
      return fits;
    }

    @Override
    public Outcome outcome(int i) {
      return sent.get(i).outcome;
    }
  }

  /** Commits of messages alone, in one {@code messages.lua}. */
  private static final class MessageGroup extends CommitGroup {
    private final Outcome[] outcomes;
    private final Map<Integer, Long> rows;
    private MessagesScript.@Nullable Answer answer;

    /**
     * Commits.
     *
     * @param rows by slot, the newest commit of rows that goes before them
     */
    MessageGroup(
        List<Commit> commits,
        WalCall call,
        SlotMarks marks,
        boolean overtakes,
        Map<Integer, Long> rows) {
      super(commits, call, marks, overtakes);
      this.rows = rows;
      this.outcomes = new Outcome[commits.size()];
      Arrays.fill(outcomes, APPLIED);
    }

    @Override
    public CompletionStage<?> send(RedisConnection redis) {
      List<ScriptCommit> sent = new ArrayList<>(commits.size());
      Map<Integer, Long> newest = new LinkedHashMap<>();
      for (Commit commit : commits) {
        ScriptCommit of = scripted(commit);
        sent.add(of);
        of.messages().forEach(some -> newest.put(some.slot(), commit.sequence()));
      }
      newest.forEach(
          (slot, last) -> moves.add(move(slot, Math.max(last, rows.getOrDefault(slot, 0L)))));
      return MessagesScript.send(redis, call, moves, sent)
          .<@Nullable Void>handle(
              (told, error) -> {
                if (error != null && !LuaScript.isForgotten(error)) {
                  throw new CompletionException(error);
                }
                answer = told;
                if (told == null || !told.fits()) {
                  Arrays.fill(outcomes, FORGOTTEN);
                } else {
                  told.refused().forEach(of -> outcomes[of.commit()] = outcome(of));
                }
                return null;
              });
    }

    private static Outcome outcome(MessagesScript.Refused refused) {
      return switch (refused.kind()) {
        case CLAIM_LOST -> new ClaimLost(refused.text());
        case CHANGED -> new MessageChanged(refused.text());
        case FULL -> new RefusedBy("OOM Redis reached maxmemory");
        case WRONG_TYPE -> new RefusedBy(refused.text());
      };
    }

    @Override
    public boolean answered() {
      MessagesScript.Answer told = answer;
      if (told == null || !told.fits()) {
        refused();
        return false;
      }
      boolean fits = true;
      for (int i = 0; i < moves.size(); i++) {
        fits &= marks.taken(moves.get(i), told.marks().get(i));
      }
      return fits;
    }

    @Override
    public Outcome outcome(int i) {
      return outcomes[i];
    }
  }

  /**
   * Commits of rows, and commits of messages behind them: what is told by a message is to be read
   * in the rows that were committed before it.
   */
  private static final class RowsAndMessages extends CommitGroup {
    private final CommitGroup rows;
    private final CommitGroup messages;

    /** The place of each commit in its half. */
    private final int[] places;

    RowsAndMessages(List<Commit> commits, WalCall call, SlotMarks marks, boolean overtakes) {
      super(commits, call, marks, overtakes);
      List<Commit> ofRows = new ArrayList<>();
      List<Commit> ofMessages = new ArrayList<>();
      // Rows that are newer go before these, and may not move the mark past what has not arrived.
      Map<Integer, Long> firstMessages = new HashMap<>();
      // These have arrived when the messages have.
      Map<Integer, Long> lastRows = new HashMap<>();
      places = new int[commits.size()];
      for (int i = 0; i < places.length; i++) {
        Commit commit = commits.get(i);
        List<Commit> half = commit.isOfMessagesAlone() ? ofMessages : ofRows;
        places[i] = half.size();
        half.add(commit);
        commit.messages().forEach(of -> firstMessages.putIfAbsent(of.slot(), commit.sequence()));
        commit.parts().forEach(of -> lastRows.put(of.session().slot(), commit.sequence()));
      }
      rows = new CommitsInMulti(ofRows, call, marks, overtakes, firstMessages);
      messages = new MessageGroup(ofMessages, call, marks, overtakes, lastRows);
    }

    @Override
    public CompletableFuture<?> send(RedisConnection redis) {
      return CompletableFuture.allOf(send(redis, rows), send(redis, messages));
    }

    /** Redis may refuse one half while it takes the other. */
    private static CompletableFuture<?> send(RedisConnection redis, CommitGroup half) {
      return half.send(redis)
          .<@Nullable Void>handle(
              (ignored, error) -> {
                if (error != null || half.wasDiscarded()) {
                  half.refusal = refusal(half.whyFailed(error));
                }
                return null;
              })
          .toCompletableFuture();
    }

    @Override
    public boolean answered() {
      boolean rowsFit = answered(rows);
      return answered(messages) && rowsFit;
    }

    private static boolean answered(CommitGroup half) {
      if (half.refusal == null) {
        return half.answered();
      }
      half.refused();
      return true;
    }

    @Override
    public void refused() {
      rows.refused();
      messages.refused();
    }

    @Override
    public Outcome outcome(int i) {
      CommitGroup half = commits.get(i).isOfMessagesAlone() ? messages : rows;
      return half.refusal != null ? new RefusedBy(half.refusal) : half.outcome(places[i]);
    }
  }

  /**
   * Commits of rows, each of one session, in one MULTI/EXEC of plain commands. As {@link
   * CommitGroup}.
   */
  static final class CommitsInMulti extends CommitGroup {
    private static final ByteArrayCodec CODEC = ByteArrayCodec.INSTANCE;
    private static final byte[] LT = SlotKeys.bytes("LT");

    /** The place of MGET's reply in EXEC's answer. */
    private static final int OWNS = 0;

    private final Map<SlotKeys, SlotChanges> slots = new LinkedHashMap<>();
    private final List<SessionChanges> ofCommits;
    private final Map<Integer, Long> before;

    private @Nullable TransactionResult exec;
    private Collection<RedisCommand<byte[], byte[], ?>> sent = List.of();

    /**
     * What the group changes of one session, its number in the answer to MGET, and where in EXEC's
     * answer that of its rows stands.
     */
    private static final class SessionChanges {
      final SessionKeys keys;
      final SlotChanges slot;
      List<ChangedRow> rows;
      boolean merged;
      boolean urgent;
      int number;
      int dirty;

      SessionChanges(SessionKeys keys, SlotChanges slot, List<ChangedRow> rows) {
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
     * What the group changes in one slot, and where in EXEC's answer that of {@code due} stands:
     * that of its mark follows.
     */
    private static final class SlotChanges {
      final List<SessionChanges> sessions = new ArrayList<>();
      long newestSequence;
      int due;
    }

    /** Commits; {@code before}: by slot, the sequence of what follows and may not arrive. */
    CommitsInMulti(
        List<Commit> commits,
        WalCall call,
        SlotMarks marks,
        boolean overtakes,
        Map<Integer, Long> before) {
      super(commits, call, marks, overtakes);
      this.before = before;
      this.ofCommits = new ArrayList<>(commits.size());
    }

    @Override
    public CompletionStage<?> send(RedisConnection redis) {
      Map<SessionRef, SessionChanges> sessions = new HashMap<>();
      for (Commit commit : commits) {
        CommitPart part = commit.parts().get(0);
        SessionChanges of = sessions.get(part.session());
        if (of != null) {
          of.add(part.rows());
        } else {
          SessionKeys keys = SessionKeys.of(call.slots(), part.session());
          SlotChanges slot = slots.computeIfAbsent(keys.slot, unknown -> new SlotChanges());
          of = new SessionChanges(keys, slot, part.rows());
          sessions.put(part.session(), of);
          slot.sessions.add(of);
        }
        of.urgent |= commit.isUrgent();
        ofCommits.add(of);
        of.slot.newestSequence = commit.sequence();
      }
      List<RedisCommand<byte[], byte[], ?>> commands = new ArrayList<>();
      commands.add(new AsyncCommand<>(new Command<>(CommandType.MULTI, new StatusOutput<>(CODEC))));
      CommandArgs<byte[], byte[]> owns = new CommandArgs<>(CODEC);
      commands.add(new Command<>(CommandType.MGET, new ValueListOutput<>(CODEC), owns));
      int number = 0;
      for (Map.Entry<SlotKeys, SlotChanges> of : slots.entrySet()) {
        for (SessionChanges session : of.getValue().sessions) {
          session.number = number++;
          owns.add(session.keys.own);
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
     * HSET dirty of each session, ZADD due and HINCRBY journal, each joined over the slot's
     * commits.
     */
    private void addWrites(
        List<RedisCommand<byte[], byte[], ?>> to, SlotKeys keys, SlotChanges slot) {
      CommandArgs<byte[], byte[]> due = new CommandArgs<>(CODEC).add(keys.due()).add(LT);
      byte[] dueAt = LuaScript.number(call.due(false));
      int replies = to.size() - 1; // MULTI has no place in the answer of EXEC
      for (SessionChanges of : slot.sessions) {
        of.dirty = replies++;
        CommandArgs<byte[], byte[]> rows = new CommandArgs<>(CODEC).add(of.keys.dirty);
        for (ChangedRow row : of.lastImages()) {
          rows.add(row.keyBytes()).add(row.image());
        }
        to.add(new Command<>(CommandType.HSET, new IntegerOutput<>(CODEC), rows));
        due.add(of.urgent ? LuaScript.number(call.due(true)) : dueAt).add(of.keys.dueMember);
      }
      slot.due = replies;
      long last = before.getOrDefault(keys.slot(), Long.MAX_VALUE) - 1;
      SlotMarks.Move move = move(keys.slot(), Math.min(slot.newestSequence, last));
      moves.add(move);
      to.add(new Command<>(CommandType.ZADD, new IntegerOutput<>(CODEC), due));
      to.add(
          new Command<>(
              CommandType.HINCRBY,
              new IntegerOutput<>(CODEC),
              new CommandArgs<>(CODEC).add(keys.journal()).add(call.walId()).add(move.delta())));
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
      Iterator<SlotChanges> slot = slots.values().iterator(); // in the order of the moves
      for (SlotMarks.Move move : moves) {
        if (replies.get(slot.next().due + 1) instanceof Long mark) {
          fits &= marks.taken(move, mark - move.delta());
        } else { // somebody else's value is there
          marks.refused(move);
        }
      }
      return fits;
    }

    @Override
    public Outcome outcome(int i) {
      if (exec == null || exec.wasDiscarded()) {
        return new RefusedBy("Redis discarded the transaction");
      }
      SessionChanges of = ofCommits.get(i);
      if (exec.get(of.dirty) instanceof Throwable error) {
        return new RefusedBy(String.valueOf(error.getMessage()));
      }
      for (int reply : new int[] {OWNS, of.slot.due}) {
        if (exec.get(reply) instanceof Throwable error) {
          return new PartlyApplied(String.valueOf(error.getMessage()));
        }
      }
      List<byte @Nullable []> owns = exec.get(OWNS);
      byte[] own = owns.get(of.number);
      return Arrays.equals(of.keys.session, own)
          ? APPLIED
          : new NotOwner(
              commits.get(i).parts().get(0), own == null ? null : new String(own, US_ASCII), true);
    }
  }
}
