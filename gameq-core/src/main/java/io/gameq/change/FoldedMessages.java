package io.gameq.change;

import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.Ack;
import io.gameq.message.MessageChange.Delete;
import io.gameq.message.MessageChange.Expect;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.Publish;
import io.gameq.message.MessageChange.Retime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The message changes of one commit, those of one message folded into one: all of a commit have one
 * version, by which a replay could not tell an earlier from a later. Not thread-safe.
 *
 * <p>Acks come first: what a handler publishes again in the commit of its ack is the next message.
 * So does what is expected of messages before anything changes.
 */
public final class FoldedMessages {
  private final List<MessageChange> first = new ArrayList<>();
  private final Map<MessageId, Change> changes = new LinkedHashMap<>();
  private int size;
  private long bytes;

  /** The change of a message, and the time that its pending one is given before; null for none. */
  private record Change(@Nullable Retime before, MessageChange last) {
    int size() {
      return before == null ? 1 : 2;
    }

    int bytes() {
      return last.bytes() + (before == null ? 0 : before.bytes());
    }
  }

  /** The changes of one commit, folded, in order. */
  public static List<MessageChange> of(Collection<? extends MessageChange> changes) {
    FoldedMessages folded = new FoldedMessages();
    folded.addAll(changes);
    return folded.list();
  }

  /** Adds a change that comes after all others. */
  public void add(MessageChange change) {
    if (change instanceof Ack || change instanceof Expect) {
      first.add(change);
      size++;
      bytes += change.bytes();
    } else {
      Change before = changes.get(change.id());
      Change now = new Change(null, change);
      now = before == null ? now : fold(before, now);
      changes.put(change.id(), now);
      size += now.size() - (before == null ? 0 : before.size());
      bytes += now.bytes() - (before == null ? 0 : before.bytes());
    }
  }

  private static Change fold(Change before, Change next) {
    MessageChange earlier = before.last;
    MessageChange later = next.last;
    if (later instanceof Publish publish) {
      return earlier instanceof Retime retime
          ? new Change(retime, later)
          : new Change(before.before, fold(earlier, publish));
    }
    if (later instanceof Retime retime && earlier instanceof Publish publish) {
      return new Change(before.before, due(publish, retime.dueMillis(), false));
    }
    return later instanceof Retime && earlier instanceof Delete ? before : next;
  }

  /** After a delete nothing pends whose time could be kept. */
  private static Publish fold(MessageChange earlier, Publish later) {
    if (earlier instanceof Publish publish && later.keepsTime()) {
      long due = Math.min(publish.dueMillis(), later.dueMillis());
      return due(later, due, publish.keepsTime());
    }
    return earlier instanceof Delete ? due(later, later.dueMillis(), false) : later;
  }

  private static Publish due(Publish of, long dueMillis, boolean keepsTime) {
    return new Publish(of.id(), of.slot(), dueMillis, keepsTime, of.capMillis(), of.value());
  }

  public void addAll(Collection<? extends MessageChange> more) {
    more.forEach(this::add);
  }

  /** All of them, in order. */
  public List<MessageChange> list() {
    List<MessageChange> all = new ArrayList<>(first);
    for (Change change : changes.values()) {
      if (change.before != null) {
        all.add(change.before);
      }
      all.add(change.last);
    }
    return all;
  }

  /** How many {@link #list} has. */
  public int size() {
    return size;
  }

  /** About what they take, in bytes, as {@link MessageChange#bytes} counts. */
  public long bytes() {
    return bytes;
  }
}
