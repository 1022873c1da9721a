package io.gameq.durability;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.owner.SessionRef;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The commits of one session that Redis has not answered, and how much room their rows take. Used
 * under the {@link DurableTracker}'s lock.
 */
final class RowsInTransit {
  private final SessionRef session;

  /** Commits that a thread of the game has taken from its session and not submitted yet. */
  private int preparing;

  /** They mostly leave in their order. */
  private final Deque<Commit> commits = new ArrayDeque<>();

  private int rows;
  private long bytes;

  /** How often each row is on its way; counted only while that may decide about room. */
  private @Nullable Map<String, Integer> timesByKey;

  RowsInTransit(SessionRef session) {
    this.session = session;
  }

  boolean isEmpty() {
    return preparing == 0 && commits.isEmpty();
  }

  void preparing() {
    preparing++;
  }

  void prepared() {
    preparing--;
  }

  void add(Commit commit) {
    List<ChangedRow> its = rowsOf(commit);
    commits.add(commit);
    rows += its.size();
    bytes += CommitPart.bytes(its);
    count(its);
  }

  /** Returns what the commit changes of this session's rows, also when it was not on its way. */
  List<ChangedRow> remove(Commit commit) {
    List<ChangedRow> its = rowsOf(commit);
    if (commits.remove(commit)) {
      rows -= its.size();
      bytes -= CommitPart.bytes(its);
      uncount(its);
    }
    return its;
  }

  /** What a commit changes of this session's rows. */
  List<ChangedRow> rowsOf(Commit commit) {
    for (CommitPart part : commit.parts()) {
      if (part.session() == session) {
        return part.rows();
      }
    }
    return List.of();
  }

  private void count(List<ChangedRow> more) {
    if (timesByKey != null) {
      for (ChangedRow row : more) {
        timesByKey.merge(row.key(), 1, Integer::sum);
      }
    }
  }

  private void uncount(List<ChangedRow> gone) {
    if (timesByKey != null) {
      for (ChangedRow row : gone) {
        timesByKey.computeIfPresent(row.key(), (key, n) -> n > 1 ? n - 1 : null);
      }
    }
  }

  /**
   * Whether there is room for some more rows beside these and those that are queued.
   *
   * @param most distinct rows
   * @param mostBytes of these rows
   */
  boolean hasRoom(QueuedRows queued, Collection<ChangedRow> more, int most, int mostBytes) {
    return distinctWith(queued, more, most) <= most
        && bytesWith(queued, more, mostBytes) <= mostBytes;
  }

  /**
   * How many distinct rows there are with those that are queued and some more. Where even counting
   * double is not above {@code most}, it is that sum.
   */
  private int distinctWith(QueuedRows queued, Collection<ChangedRow> more, int most) {
    int atMost = queued.size() + rows + more.size();
    if (atMost <= most) {
      timesByKey = null;
      return atMost;
    }
    if (timesByKey == null) {
      timesByKey = new HashMap<>();
      commits.forEach(commit -> count(rowsOf(commit)));
    }
    int distinct = queued.size() + timesByKey.size();
    for (ChangedRow row : more) {
      distinct += queued.contains(row.key()) || timesByKey.containsKey(row.key()) ? 0 : 1;
    }
    return distinct;
  }

  /** The bytes of these rows, each in its newest version; the sum of all where that is enough. */
  private long bytesWith(QueuedRows queued, Collection<ChangedRow> more, int most) {
    long atMost = queued.bytesAtMost() + bytes + CommitPart.bytes(more);
    if (atMost <= most) {
      return atMost;
    }
    Map<String, Integer> newest = queued.countBytes();
    commits.forEach(commit -> rowsOf(commit).forEach(row -> newest.put(row.key(), row.bytes())));
    more.forEach(row -> newest.put(row.key(), row.bytes()));
    return newest.values().stream().mapToLong(Integer::longValue).sum();
  }

  /** The oldest WAL sequence of these commits, at most {@code newest}. */
  long oldestSequence(long newest) {
    long oldest = newest;
    for (Commit commit : commits) {
      oldest = commit.sequence() == 0 ? oldest : Math.min(oldest, commit.sequence());
    }
    return oldest;
  }

  /** The lowest version of those that the WAL has; {@link Long#MAX_VALUE} when it has none. */
  long oldestVersion() {
    long oldest = Long.MAX_VALUE;
    for (Commit commit : commits) {
      if (commit.sequence() != 0) { // else it has no version that others may read
        oldest = Math.min(oldest, commit.version());
      }
    }
    return oldest;
  }

  void addKeysTo(Set<String> keys) {
    commits.forEach(commit -> rowsOf(commit).forEach(row -> keys.add(row.key())));
  }
}
