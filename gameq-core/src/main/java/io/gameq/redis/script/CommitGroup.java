package io.gameq.redis.script;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.change.Commit.SlotMessages;
import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.RedisReply.TransactionDiscardedException;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.SlotKeys.SessionKeys;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import io.gameq.redis.script.MessagesScript.MessageCommit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
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
  public sealed interface Unmet extends Outcome {}

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
  public record ClaimLost(String message) implements Unmet {}

  /** A pending message was not what the commit expected; nothing of the commit was written. */
  public record MessageChanged(String message) implements Unmet {}

  /**
   * A row that it sends to an owner has the key of one that waits to be flushed; nothing of the
   * commit was written.
   */
  public record RowIsThere(OwnerId owner, String row) implements Unmet {}

  /** Redis took the rows and refused something beside them: they may or may not be flushed. */
  public record TakenInPart(String message) implements Outcome {}

  static final Outcome APPLIED = new Applied();
  private static final Outcome FORGOTTEN = new Forgotten();

  /**
   * What the sender tells of all its commits.
   *
   * @param keysOf keys of a session
   * @param slots all of the namespace; none where there are no messages
   * @param dueMillis when the rows are due, ms by the clock of Redis
   * @param open the oldest WAL sequence that waits for an answer
   * @param marks of the WAL, by slot
   * @param overtakes whether older commits wait to be sent: the marks may not pass them
   */
  public record Terms(
      Function<CommitPart, SessionKeys> keysOf,
      SlotKeys[] slots,
      byte[] walId,
      long dueMillis,
      long open,
      SlotMarks marks,
      boolean overtakes) {
    SlotMarks.Move move(int slot, long last) {
      return overtakes ? marks.aside(slot, last) : marks.next(slot, last);
    }

    MessagesScript.WalCall call(boolean isAgain, List<SlotMarks.Move> moves) {
      return new MessagesScript.WalCall(
          walId,
          isAgain ? MessagesScript.Mode.AGAIN : MessagesScript.Mode.FIRST,
          open,
          slots,
          moves);
    }

    long due(boolean isUrgent) {
      return isUrgent ? SessionScripts.urgent(dueMillis) : dueMillis;
    }
  }

  final List<Commit> commits;
  final Terms terms;
  final List<SlotMarks.Move> moves = new ArrayList<>();

  CommitGroup(List<Commit> commits, Terms terms) {
    this.commits = commits;
    this.terms = terms;
  }

  /** A group of commits in WAL order, which all {@linkplain Commit#goesAlone go alone} or none. */
  public static CommitGroup of(List<Commit> commits, Terms terms) {
    if (commits.get(0).goesAlone()) {
      return new AsScripts(commits, terms, false);
    }
    long messages = commits.stream().filter(Commit::isOfMessagesAlone).count();
    if (messages == 0) {
      return new CommitsInMulti(commits, terms, Map.of());
    }
    return messages == commits.size()
        ? new OfMessages(commits, terms, false, Map.of())
        : new OfBoth(commits, terms);
  }

  /** A commit whose answer was lost, or which was refused: as a script, however often. */
  public static CommitGroup again(Commit commit, Terms terms) {
    return commit.isOfMessagesAlone()
        ? new OfMessages(List.of(commit), terms, true, Map.of())
        : new AsScripts(List.of(commit), terms, true);
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
    return commit.isOfMessagesAlone() && lacking(commit, terms).isEmpty();
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
    moves.forEach(terms.marks()::refused);
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

  /** The messages of a commit: of one that is sent again none if Redis took them. */
  private static MessageCommit messages(Commit commit, Terms terms, boolean isAgain) {
    return new MessageCommit(
        commit.sequence(), commit.version(), isAgain ? lacking(commit, terms) : commit.messages());
  }

  private static List<SlotMessages> lacking(Commit commit, Terms terms) {
    return commit.isNotTaken()
            || terms.marks().read().wasRefused(commit.sequence(), commit.publishes())
        ? commit.messages()
        : List.of();
  }

  /**
   * Commits that are checked as a whole before anything of them is written, each as {@code
   * commit.lua}: spanning ones, those of rows and messages, and those that are sent again.
   */
  private static final class AsScripts extends CommitGroup {
    private final boolean isAgain;
    private final @Nullable Outcome[] outcomes;
    private final List<CommitScript.Arguments> sent = new ArrayList<>();

    /** Of what was decided, the marks before it. */
    private final List<@Nullable List<Long>> marks;

    /** Commits; {@code isAgain}: Redis may hold them already. */
    AsScripts(List<Commit> commits, Terms terms, boolean isAgain) {
      super(commits, terms);
      this.isAgain = isAgain;
      this.outcomes = new @Nullable Outcome[commits.size()];
      this.marks = new ArrayList<>(Collections.nCopies(commits.size(), null));
    }

    @Override
    public CompletionStage<?> send(RedisConnection redis) {
      if (commits.size() == 1) {
        return send(redis, 0);
      }
      CompletableFuture<?>[] replies = new CompletableFuture<?>[commits.size()];
      redis.inOneGo(
          () -> {
            for (int i = 0; i < replies.length; i++) {
              replies[i] = send(redis, i);
            }
          });
      return CompletableFuture.allOf(replies);
    }

    private CompletableFuture<@Nullable Void> send(RedisConnection redis, int i) {
      Commit commit = commits.get(i);
      CommitScript.Arguments arguments = arguments(commit);
      sent.add(arguments);
      moves.addAll(arguments.call().moves());
      return CommitScript.sendText(redis, arguments)
          .<@Nullable Void>handle(
              (answer, error) -> {
                outcomes[i] =
                    error == null
                        ? outcome(commit, answer)
                        : LuaScript.isForgotten(error) ? FORGOTTEN : new RefusedBy(refusal(error));
                if (error == null && answer.get(answer.size() - 1) instanceof List<?> before) {
                  marks.set(i, SlotMarks.marks(before));
                }
                return null;
              })
          .toCompletableFuture();
    }

    private CommitScript.Arguments arguments(Commit commit) {
      List<CommitScript.Part> parts = new ArrayList<>();
      Set<Integer> slots = new LinkedHashSet<>();
      for (CommitPart part : commit.parts()) {
        List<byte[]> rows = new ArrayList<>(2 * part.rows().size());
        for (ChangedRow row : part.rows()) {
          rows.add(row.keyBytes());
          rows.add(row.image());
        }
        parts.add(new CommitScript.Part(terms.keysOf().apply(part), rows));
        slots.add(part.session().slot());
      }
      MessageCommit messages = messages(commit, terms, isAgain);
      messages.messages().forEach(of -> slots.add(of.slot()));
      List<SlotMarks.Move> moved = new ArrayList<>();
      slots.forEach(slot -> moved.add(terms.move(slot, commit.sequence())));
      return new CommitScript.Arguments(
          terms.call(isAgain, moved),
          commit.sequence(),
          terms.due(commit.isUrgent()),
          parts,
          messages.messages().isEmpty() ? null : messages);
    }

    private static Outcome outcome(Commit commit, List<Object> reply) {
      return switch (((Long) reply.get(0)).intValue()) {
        case 1 -> APPLIED;
        case 2 -> new ClaimLost(LuaScript.string(reply.get(1)));
        case 3 -> new MessageChanged(LuaScript.string(reply.get(1)));
        case 4 ->
            new RowIsThere(
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
      for (int i = 0; i < outcomes.length; i++) {
        List<Long> before = marks.get(i);
        for (int slot = 0; slot < sent.get(i).call().moves().size(); slot++) {
          SlotMarks.Move move = sent.get(i).call().moves().get(slot);
          if (before == null) {
            terms.marks().refused(move);
          } else {
            fits &= terms.marks().taken(move, before.get(slot));
          }
        }
        fits &= !(outcomes[i] instanceof Forgotten);
      }
      return fits;
    }

    @Override
    public Outcome outcome(int i) {
      Outcome outcome = outcomes[i];
      return outcome != null ? outcome : new RefusedBy("Redis did not answer");
    }
  }

  /** Commits of messages alone, in one {@code messages.lua}. */
  private static final class OfMessages extends CommitGroup {
    private final boolean isAgain;
    private final Outcome[] outcomes;
    private final Map<Integer, Long> rows;
    private MessagesScript.@Nullable Answer answer;

    /**
     * Commits.
     *
     * @param isAgain whether Redis may hold them already
     * @param rows by slot, the newest commit of rows that goes before them
     */
    OfMessages(List<Commit> commits, Terms terms, boolean isAgain, Map<Integer, Long> rows) {
      super(commits, terms);
      this.rows = rows;
      this.isAgain = isAgain;
      this.outcomes = new Outcome[commits.size()];
      Arrays.fill(outcomes, APPLIED);
    }

    @Override
    public CompletionStage<?> send(RedisConnection redis) {
      List<MessageCommit> sent = new ArrayList<>(commits.size());
      Map<Integer, Long> newest = new LinkedHashMap<>();
      for (Commit commit : commits) {
        MessageCommit of = messages(commit, terms, isAgain);
        sent.add(of);
        of.messages().forEach(some -> newest.put(some.slot(), commit.sequence()));
      }
      newest.forEach(
          (slot, last) -> moves.add(terms.move(slot, Math.max(last, rows.getOrDefault(slot, 0L)))));
      return MessagesScript.send(redis, terms.call(isAgain, moves), sent)
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
        fits &= terms.marks().taken(moves.get(i), told.marks().get(i));
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
  private static final class OfBoth extends CommitGroup {
    private final Half rows;
    private final Half messages;

    /** The place of each commit in its half. */
    private final int[] places;

    OfBoth(List<Commit> commits, Terms terms) {
      super(commits, terms);
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
      rows = new Half(new CommitsInMulti(ofRows, terms, firstMessages));
      messages = new Half(new OfMessages(ofMessages, terms, false, lastRows));
    }

    @Override
    public CompletableFuture<?> send(RedisConnection redis) {
      return CompletableFuture.allOf(rows.send(redis), messages.send(redis));
    }

    @Override
    public boolean answered() {
      boolean rowsFit = rows.answered();
      return messages.answered() && rowsFit;
    }

    @Override
    public void refused() {
      rows.commands.refused();
      messages.commands.refused();
    }

    @Override
    public Outcome outcome(int i) {
      return (commits.get(i).isOfMessagesAlone() ? messages : rows).outcome(places[i]);
    }
  }

  /** Commits of one kind; Redis may refuse them while it takes the others. */
  private static final class Half {
    final CommitGroup commands;
    @Nullable String refusal;

    Half(CommitGroup commands) {
      this.commands = commands;
    }

    CompletableFuture<?> send(RedisConnection redis) {
      return commands
          .send(redis)
          .<@Nullable Void>handle(
              (ignored, error) -> {
                if (error != null || commands.wasDiscarded()) {
                  refusal = refusal(commands.whyFailed(error));
                }
                return null;
              })
          .toCompletableFuture();
    }

    boolean answered() {
      if (refusal == null) {
        return commands.answered();
      }
      commands.refused();
      return true;
    }

    Outcome outcome(int i) {
      return refusal != null ? new RefusedBy(refusal) : commands.outcome(i);
    }
  }
}
