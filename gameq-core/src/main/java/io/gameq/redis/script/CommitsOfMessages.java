package io.gameq.redis.script;

import io.gameq.change.Commit;
import io.gameq.change.SlotMessages;
import io.gameq.redis.RedisConnection;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Commits of messages alone, in one {@code messages.lua}. As {@link CommitGroup}. */
final class CommitsOfMessages implements CommitCommands {
  private final List<Commit> commits;
  private final CommitGroup.Terms terms;
  private final boolean isAgain;
  private final CommitGroup.Outcome[] outcomes;
  private final List<SlotMarks.Move> moves = new ArrayList<>();
  private final Map<Integer, Long> rows;
  private MessagesScript.@Nullable Answer answer;

  /** Commits; {@code isAgain}: Redis may hold them already. */
  CommitsOfMessages(List<Commit> commits, CommitGroup.Terms terms, boolean isAgain) {
    this(commits, terms, isAgain, Map.of());
  }

  /**
   * The same for the first time; {@code rows}: by slot, the newest commit that goes before them.
   */
  CommitsOfMessages(List<Commit> commits, CommitGroup.Terms terms, Map<Integer, Long> rows) {
    this(commits, terms, false, rows);
  }

  private CommitsOfMessages(
      List<Commit> commits, CommitGroup.Terms terms, boolean isAgain, Map<Integer, Long> rows) {
    this.rows = rows;
    this.commits = commits;
    this.terms = terms;
    this.isAgain = isAgain;
    this.outcomes = new CommitGroup.Outcome[commits.size()];
    Arrays.fill(outcomes, CommitGroup.APPLIED);
  }

  @Override
  public CompletionStage<?> send(RedisConnection redis) {
    List<MessageCommit> sent = new ArrayList<>(commits.size());
    Map<Integer, Long> newest = new LinkedHashMap<>();
    for (Commit commit : commits) {
      sent.add(of(commit, terms, isAgain));
      sent.get(sent.size() - 1).messages().forEach(of -> newest.put(of.slot(), commit.sequence()));
    }
    newest.forEach(
        (slot, last) -> moves.add(terms.move(slot, Math.max(last, rows.getOrDefault(slot, 0L)))));
    return MessagesScript.send(
            redis,
            new MessagesScript.Arguments(
                terms.walId(),
                isAgain ? MessagesScript.Mode.AGAIN : MessagesScript.Mode.FIRST,
                terms.open(),
                terms.slots(),
                sent,
                moves))
        .thenAccept(
            told -> {
              answer = told;
              told.refused().forEach(of -> outcomes[of.commit()] = outcome(of));
              if (!told.fits()) {
                Arrays.fill(outcomes, CommitGroup.FORGOTTEN);
              }
            });
  }

  /** The messages of a commit: of one that is sent again none if Redis took them. */
  static MessageCommit of(Commit commit, CommitGroup.Terms terms, boolean isAgain) {
    return new MessageCommit(
        commit.sequence(), commit.version(), isAgain ? lacking(commit, terms) : commit.messages());
  }

  static List<SlotMessages> lacking(Commit commit, CommitGroup.Terms terms) {
    return commit.isNotTaken()
            || terms.marks().read().wasRefused(commit.sequence(), commit.publishes())
        ? commit.messages()
        : List.of();
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
  public void refused() {
    moves.forEach(terms.marks()::refused);
  }

  private static CommitGroup.Outcome outcome(MessagesScript.Refused refused) {
    return switch (refused.kind()) {
      case CLAIM_LOST -> new CommitGroup.ClaimLost(refused.text());
      case CHANGED -> new CommitGroup.MessageChanged(refused.text());
      case FULL -> new CommitGroup.RefusedBy("OOM Redis reached maxmemory");
      case WRONG_TYPE -> new CommitGroup.RefusedBy(refused.text());
    };
  }

  @Override
  public CommitGroup.Outcome outcome(int i) {
    return outcomes[i];
  }
}
