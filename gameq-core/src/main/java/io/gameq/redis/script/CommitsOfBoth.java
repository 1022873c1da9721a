package io.gameq.redis.script;

import io.gameq.change.Commit;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Commits of rows, and commits of messages behind them: what is told by a message is to be read in
 * the rows that were committed before it. As {@link CommitGroup}.
 */
final class CommitsOfBoth implements CommitCommands {
  private final Half rows;
  private final Half messages;
  private final Half[] ofCommits;
  private final int[] numbers;

  /** Those of one kind; Redis may refuse them while it takes the others. */
  private static final class Half {
    final List<Commit> commits = new ArrayList<>();
    @Nullable CommitCommands commands;
    @Nullable String refusal;

    CompletableFuture<?> send(RedisConnection redis, CommitCommands by) {
      commands = by;
      return by.send(redis)
          .<@Nullable Void>handle(
              (ignored, error) -> {
                if (error != null || by.wasDiscarded()) {
                  refusal = refusal(by.whyFailed(CommitGroup.failure(error)));
                }
                return null;
              })
          .toCompletableFuture();
    }

    private static String refusal(Throwable error) {
      String message = RedisReply.answered(error);
      if (message == null || RedisReply.isAway(message)) {
        throw error instanceof CompletionException of ? of : new CompletionException(error);
      }
      return message;
    }

    boolean answered() {
      CommitCommands by = Objects.requireNonNull(commands);
      if (refusal == null) {
        return by.answered();
      }
      by.refused();
      return true;
    }

    CommitGroup.Outcome outcome(int i) {
      return refusal != null || commands == null
          ? new CommitGroup.RefusedBy(String.valueOf(refusal))
          : commands.outcome(i);
    }
  }

  private final CommitGroup.Terms terms;

  CommitsOfBoth(List<Commit> commits, CommitGroup.Terms terms) {
    this.terms = terms;
    rows = new Half();
    messages = new Half();
    ofCommits = new Half[commits.size()];
    numbers = new int[commits.size()];
    for (int i = 0; i < ofCommits.length; i++) {
      Commit commit = commits.get(i);
      ofCommits[i] = commit.isOfMessagesAlone() ? messages : rows;
      numbers[i] = ofCommits[i].commits.size();
      ofCommits[i].commits.add(commit);
    }
  }

  @Override
  public CompletableFuture<?> send(RedisConnection redis) {
    return CompletableFuture.allOf(
        rows.send(redis, new CommitsInMulti(rows.commits, terms, firstMessages())),
        messages.send(redis, new CommitsOfMessages(messages.commits, terms, lastRows())));
  }

  /**
   * By slot, the oldest commit of messages: rows that are newer go before it, and may not move the
   * journal mark past what has not arrived.
   */
  private Map<Integer, Long> firstMessages() {
    Map<Integer, Long> first = new HashMap<>();
    for (Commit commit : messages.commits) {
      commit.messages().forEach(of -> first.putIfAbsent(of.slot(), commit.sequence()));
    }
    return first;
  }

  /** By slot, the newest commit of rows: it has arrived when the messages have. */
  private Map<Integer, Long> lastRows() {
    Map<Integer, Long> last = new HashMap<>();
    for (Commit commit : rows.commits) {
      commit.parts().forEach(part -> last.put(part.session().slot(), commit.sequence()));
    }
    return last;
  }

  @Override
  public boolean answered() {
    boolean rowsFit = rows.answered();
    return messages.answered() && rowsFit;
  }

  @Override
  public void refused() {
    Objects.requireNonNull(rows.commands).refused();
    Objects.requireNonNull(messages.commands).refused();
  }

  @Override
  public CommitGroup.Outcome outcome(int i) {
    return ofCommits[i].outcome(numbers[i]);
  }
}
