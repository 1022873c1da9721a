package io.gameq.redis.script;

import io.gameq.change.Commit;
import io.gameq.change.SlotMessages;
import io.gameq.redis.RedisConnection;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Commits of messages alone, in one {@code messages.lua}. As {@link CommitGroup}. */
final class CommitsOfMessages implements CommitCommands {
  private final List<Commit> commits;
  private final CommitGroup.Terms terms;
  private final boolean isAgain;
  private final CommitGroup.Outcome[] outcomes;

  /** Commits; {@code isAgain}: Redis may hold them already. */
  CommitsOfMessages(List<Commit> commits, CommitGroup.Terms terms, boolean isAgain) {
    this.commits = commits;
    this.terms = terms;
    this.isAgain = isAgain;
    this.outcomes = new CommitGroup.Outcome[commits.size()];
    Arrays.fill(outcomes, CommitGroup.APPLIED);
  }

  @Override
  public CompletionStage<?> send(RedisConnection redis) {
    List<MessageCommit> sent = new ArrayList<>(commits.size());
    for (Commit commit : commits) {
      sent.add(of(commit, isAgain));
    }
    return MessagesScript.send(
            redis,
            new MessagesScript.Arguments(terms.walId(), terms.kept(), false, terms.slots(), sent))
        .thenAccept(refusals -> refusals.forEach(of -> outcomes[of.commit()] = outcome(of)));
  }

  /** The messages of a commit; {@code isAgain}: Redis may hold them already. */
  static MessageCommit of(Commit commit, boolean isAgain) {
    List<SlotMessages> messages =
        isAgain
            ? commit.messages().stream().map(SlotMessages::withoutBefore).toList()
            : commit.messages();
    return new MessageCommit(commit.sequence(), commit.version(), messages);
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
