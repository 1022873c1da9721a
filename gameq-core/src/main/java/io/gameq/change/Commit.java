package io.gameq.change;

import io.gameq.change.ChangedRow.RowMove;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.owner.SessionRef;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An atomic set of changes of rows, of messages, or of both, on its way to Redis. Built by a game
 * thread; from {@code submit} on only the sender's thread writes to it, and others read after
 * {@link #queued} or {@link #failed} was called.
 */
public abstract class Commit {
  /** One commit in so many is timed: to tell a meter costs a hundredth of a commit. */
  public static final int TIMED_OF = 8;

  private final List<CommitPart> parts;
  private final List<MessageChange> messages;
  private final int bytes;
  private final @Nullable RowMove move;
  private final long beganNanos = System.nanoTime();
  private volatile long sequence;
  private long version;
  private boolean sentAgain;
  private boolean notTaken;

  protected Commit(List<CommitPart> parts) {
    this(parts, List.of(), null);
  }

  /**
   * A commit.
   *
   * @param parts the rows of its sessions; none for a commit of messages alone
   * @param messages what it changes of messages, in order
   * @param move is told the version, when rows are moved
   */
  protected Commit(List<CommitPart> parts, List<MessageChange> messages, @Nullable RowMove move) {
    this.parts = List.copyOf(parts);
    this.messages = List.copyOf(messages);
    this.move = move;
    int sum = 0;
    for (MessageChange change : this.messages) {
      sum += change.bytes();
    }
    for (CommitPart part : parts) {
      sum += (int) part.bytes();
    }
    this.bytes = sum;
  }

  /** The WAL holds the commit: it survives this process. Called by the sender's thread. */
  public void journaled() {}

  /** Redis holds the commit. Called by the sender's thread, so it must be quick. */
  public abstract void queued();

  /**
   * Redis does not hold the commit, or nobody knows (see the exception's type). Called by the
   * sender's thread, or the one that closes the node.
   */
  public abstract void failed(RuntimeException reason);

  public List<CommitPart> parts() {
    return parts;
  }

  /** What it changes of messages, in order; empty for a commit of rows alone. */
  public List<MessageChange> messages() {
    return messages;
  }

  /** One of its sessions that no longer owns; null when all do, as far as is known. */
  public @Nullable SessionRef lostSession() {
    for (CommitPart part : parts) {
      if (part.session().isLost()) {
        return part.session();
      }
    }
    return null;
  }

  /** Whether it is to be in MySQL before what waits. */
  public boolean isUrgent() {
    return false;
  }

  public final boolean isSpanning() {
    return parts.size() > 1;
  }

  /** Whether it changes messages and no rows. */
  public boolean isOfMessagesAlone() {
    return parts.isEmpty();
  }

  /** Redis is known to have nothing of it, whatever its journal marks say by now. */
  public void setNotTaken() {
    notTaken = true;
  }

  public boolean isNotTaken() {
    return notTaken;
  }

  /** Whether it publishes messages. */
  public boolean publishes() {
    return messages.stream().anyMatch(MessageChange.Publish.class::isInstance);
  }

  /** Whether it acknowledges a message, whose lease runs. */
  public boolean acknowledges() {
    return messages.stream().anyMatch(MessageChange.Ack.class::isInstance);
  }

  /** Whether it is sent by itself: what is checked of all of it decides about all of it. */
  public boolean goesAlone() {
    return isSpanning()
        || (!parts.isEmpty() && (!messages.isEmpty() || parts.get(0).session().isInbox()));
  }

  /** How many rows it changes. */
  public int rows() {
    int rows = 0;
    for (CommitPart part : parts) {
      rows += part.rows().size();
    }
    return rows;
  }

  /**
   * Whether Redis takes it though it is full, and before what was committed earlier: it only makes
   * room, by messages that were handled.
   */
  public boolean makesRoom() {
    return parts.isEmpty() && messages.stream().allMatch(MessageChange.Ack.class::isInstance);
  }

  /**
   * Whether it deletes or retimes a message: it must not overtake the publish of that message, of
   * which it would find nothing.
   */
  public boolean changesPending() {
    return messages.stream().anyMatch(Commit::changesPending);
  }

  /** Whether it deletes or retimes one of these messages. */
  public boolean changesPendingOf(Set<MessageId> ids) {
    return messages.stream().anyMatch(of -> changesPending(of) && ids.contains(of.id()));
  }

  private static boolean changesPending(MessageChange change) {
    return change instanceof MessageChange.Delete || change instanceof MessageChange.Retime;
  }

  /** Adds the messages that it publishes. */
  public void addPublished(Set<MessageId> to) {
    for (MessageChange change : messages) {
      if (change instanceof MessageChange.Publish) {
        to.add(change.id());
      }
    }
  }

  /** Whether it is one of those whose time meters are told. */
  public boolean isTimed() {
    return sequence % TIMED_OF == 0;
  }

  /** When the game committed it, by System.nanoTime. */
  public long beganNanos() {
    return beganNanos;
  }

  /** Keys and images, and about what its messages take, in bytes. */
  public int bytes() {
    return bytes;
  }

  /** Sequence of this commit's WAL record; 0 before it was appended. Read by any thread. */
  public long sequence() {
    return sequence;
  }

  public void setSequence(long sequence) {
    this.sequence = sequence;
  }

  /**
   * Whether its first answer was lost: then it may reach Redis after commits with higher versions.
   */
  public boolean isSentAgain() {
    return sentAgain;
  }

  public void setSentAgain() {
    sentAgain = true;
  }

  /** The version of all its rows and messages. */
  public long version() {
    return version;
  }

  /** Writes the version into all rows and messages: both halves of a move carry the same. */
  public void setVersion(long version) {
    this.version = version;
    if (move != null) {
      move.setVersion(version);
    }
    for (CommitPart part : parts) {
      for (ChangedRow row : part.rows()) {
        row.setVersion(version);
      }
    }
    messages.forEach(change -> change.setVersion(version));
  }

  /** One session's share of a commit; immutable but for the versions inside the images. */
  public record CommitPart(SessionRef session, List<ChangedRow> rows) {
    /** Keys and images, in bytes. */
    public long bytes() {
      return bytes(rows);
    }

    /** The same of some rows. Each commit counts them several times: a stream would cost more. */
    public static long bytes(Collection<ChangedRow> rows) {
      long sum = 0;
      for (ChangedRow row : rows) {
        sum += row.bytes();
      }
      return sum;
    }
  }
}
