package io.gameq.redis.script;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.CommitPart;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Commits that are checked as a whole before anything of them is written, each as {@code
 * commit.lua}: spanning ones, those of rows and messages, and those that are sent again. As {@link
 * CommitGroup}.
 */
final class CommitsAsScripts implements CommitCommands {
  private final List<Commit> commits;
  private final CommitGroup.Terms terms;
  private final boolean isAgain;
  private final CommitGroup.@Nullable Outcome[] outcomes;
  private final List<@Nullable List<Long>> marks;
  private final List<List<SlotMarks.Move>> moves = new ArrayList<>();

  /** Commits; {@code isAgain}: Redis may hold them already. */
  CommitsAsScripts(List<Commit> commits, CommitGroup.Terms terms, boolean isAgain) {
    this.commits = commits;
    this.terms = terms;
    this.isAgain = isAgain;
    this.outcomes = new CommitGroup.@Nullable Outcome[commits.size()];
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
    moves.add(arguments.moves());
    CompletionStage<List<Object>> reply =
        arguments.messages() == null
            ? CommitScript.sendText(redis, arguments)
            : CommitScript.send(redis, arguments);
    return reply
        .<@Nullable Void>handle(
            (answer, error) -> {
              outcomes[i] = error == null ? outcome(commit, answer) : refused(error);
              if (error == null && answer.get(answer.size() - 1) instanceof List<?> before) {
                marks.set(i, SlotMarks.marks(before)); // of one that was decided
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
    MessageCommit messages = CommitsOfMessages.of(commit, terms, isAgain);
    messages.messages().forEach(of -> slots.add(of.slot()));
    List<SlotMarks.Move> moved = new ArrayList<>();
    slots.forEach(slot -> moved.add(terms.move(slot, commit.sequence())));
    return new CommitScript.Arguments(
        terms.walId(),
        isAgain ? MessagesScript.Mode.AGAIN : MessagesScript.Mode.FIRST,
        commit.sequence(),
        terms.open(),
        terms.due(commit.isUrgent()),
        parts,
        messages.messages().isEmpty() ? null : messages,
        terms.slots(),
        moved);
  }

  private static CommitGroup.Outcome outcome(Commit commit, List<Object> reply) {
    return switch (((Long) reply.get(0)).intValue()) {
      case 1 -> CommitGroup.APPLIED;
      case 2 -> new CommitGroup.ClaimLost(LuaScript.string(reply.get(1)));
      case 3 -> new CommitGroup.MessageChanged(LuaScript.string(reply.get(1)));
      case 4 ->
          new CommitGroup.RowIsThere(
              commit.parts().get(((Long) reply.get(1)).intValue()).session().owner().base(),
              LuaScript.string(reply.get(2)));
      case 5 -> CommitGroup.FORGOTTEN;
      default -> {
        String ownedBy = LuaScript.string(reply.get(2));
        yield new CommitGroup.NotOwner(
            commit.parts().get(((Long) reply.get(1)).intValue()),
            ownedBy.isEmpty() ? null : ownedBy,
            false);
      }
    };
  }

  /** Redis' own refusal is of this commit; that it is away is so for all. */
  private static CommitGroup.Outcome refused(Throwable error) {
    String message = RedisReply.answered(error);
    if (message == null || RedisReply.isAway(message)) {
      throw error instanceof CompletionException of ? of : new CompletionException(error);
    }
    return new CommitGroup.RefusedBy(message);
  }

  @Override
  public boolean answered() {
    boolean fits = true;
    for (int i = 0; i < outcomes.length; i++) {
      List<Long> before = marks.get(i);
      for (int slot = 0; slot < moves.get(i).size(); slot++) {
        SlotMarks.Move move = moves.get(i).get(slot);
        if (before == null) {
          terms.marks().refused(move);
        } else {
          fits &= terms.marks().taken(move, before.get(slot));
        }
      }
      fits &= !(outcomes[i] instanceof CommitGroup.Forgotten);
    }
    return fits;
  }

  @Override
  public void refused() {
    moves.forEach(of -> of.forEach(terms.marks()::refused));
  }

  @Override
  public CommitGroup.Outcome outcome(int i) {
    CommitGroup.Outcome outcome = outcomes[i];
    return outcome != null ? outcome : new CommitGroup.RefusedBy("Redis did not answer");
  }
}
