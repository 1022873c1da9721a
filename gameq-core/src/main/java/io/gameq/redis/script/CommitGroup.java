package io.gameq.redis.script;

import io.gameq.change.Commit;
import io.gameq.change.CommitPart;
import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SessionKeys;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.TransactionDiscardedException;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Commits that travel to Redis together: those of rows in one MULTI/EXEC of plain commands, and
 * those of messages in one script behind it; or spanning ones and those of both, a script each.
 * Built and sent by the sender's thread; {@link #outcome} may be asked when {@link #send}'s stage
 * completed.
 */
public final class CommitGroup {
  /** What became of one commit of a group. */
  public sealed interface Outcome {}

  /** Redis holds it, or all that it still has to hold. */
  public record Applied() implements Outcome {}

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

  /** A message, or a row that is sent, was not as it needs it: nothing of it was written. */
  public sealed interface Unmet extends Outcome {}

  /** Redis has lost something, and holds nothing of it: it is to be sent again once healed. */
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
  static final Outcome FORGOTTEN = new Forgotten();

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
    /** For commits without messages. */
    public Terms(
        Function<CommitPart, SessionKeys> keysOf, byte[] walId, long dueMillis, SlotMarks marks) {
      this(keysOf, new SlotKeys[0], walId, dueMillis, 0, marks, false);
    }

    SlotMarks.Move move(int slot, long last) {
      return overtakes ? marks.aside(slot, last) : marks.next(slot, last);
    }

    byte[] dueAt(boolean isUrgent) {
      return SlotKeys.bytes(Long.toString(due(isUrgent)));
    }

    long due(boolean isUrgent) {
      return isUrgent ? DueSessions.urgent(dueMillis) : dueMillis;
    }
  }

  private final List<Commit> commits;
  private final Terms terms;
  private CommitCommands commands;

  /** A group of commits in WAL order, which all {@linkplain Commit#goesAlone go alone} or none. */
  public CommitGroup(List<Commit> commits, Terms terms) {
    this.commits = commits;
    this.terms = terms;
    this.commands = commands(commits, terms);
  }

  private static CommitCommands commands(List<Commit> commits, Terms terms) {
    if (commits.get(0).goesAlone()) {
      return new CommitsAsScripts(commits, terms, false);
    }
    int messages = 0;
    for (Commit commit : commits) {
      messages += commit.isOfMessagesAlone() ? 1 : 0;
    }
    if (messages == 0) {
      return new CommitsInMulti(commits, terms);
    }
    return messages == commits.size()
        ? new CommitsOfMessages(commits, terms, false)
        : new CommitsOfBoth(commits, terms);
  }

  public List<Commit> commits() {
    return commits;
  }

  /**
   * Writes the commands to a connection that flushes by itself; the stage completes when the reply
   * is there or cannot come any more.
   */
  public CompletionStage<?> send(RedisConnection redis) {
    return commands.send(redis);
  }

  /** Whether a commit whose answer was lost changes messages alone, and Redis has it. */
  public boolean isThere() {
    Commit commit = commits.get(0);
    return commit.isOfMessagesAlone() && CommitsOfMessages.lacking(commit, terms).isEmpty();
  }

  /** Sends a commit whose answer was lost, or which was refused: as a script, however often. */
  public CompletionStage<?> sendAgain(RedisConnection redis) {
    commands =
        commits.get(0).isOfMessagesAlone()
            ? new CommitsOfMessages(commits, terms, true)
            : new CommitsAsScripts(commits, terms, true);
    return commands.send(redis);
  }

  /** Whether Redis answered EXEC with nothing, having discarded the transaction. */
  public boolean wasDiscarded() {
    return commands.wasDiscarded();
  }

  /**
   * Why it failed or was discarded: the answer to the command that Redis refused to queue, if it
   * answered one; nothing of the group was applied then. Else {@code error}, the connection's.
   */
  public Throwable whyFailed(@Nullable Throwable error) {
    return commands.whyFailed(failure(error));
  }

  static Throwable failure(@Nullable Throwable error) {
    return error != null
        ? error
        : new TransactionDiscardedException("Redis discarded the transaction");
  }

  /**
   * Redis answered each commit: notes how far its marks have come. Returns whether they are as
   * expected; else Redis has lost something beneath the connection. To be called once, in the order
   * in which groups were sent.
   */
  public boolean answered() {
    return commands.answered();
  }

  /** Redis refused all of the group: it did not move its marks. As {@link #answered}. */
  public void refused() {
    commands.refused();
  }

  /** What became of commit {@code i}, once the group's reply is there. */
  public Outcome outcome(int i) {
    return commands.outcome(i);
  }
}
