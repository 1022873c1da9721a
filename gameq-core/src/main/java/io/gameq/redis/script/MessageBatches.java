package io.gameq.redis.script;

import io.gameq.change.SlotMessages;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.Expect;
import io.gameq.message.MessageChange.Publish;
import io.gameq.message.MessageId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Sorts changes of messages into batches: those of one lane stay in order, others change places.
 * Not thread-safe.
 */
final class MessageBatches {
  /** What follows one another in a call. */
  private sealed interface Unit {}

  /** Changes of many commits, of one each. */
  private record Joined(MessageBatch batch) implements Unit {}

  /** A commit that is applied or refused as a whole. */
  private record Whole(int commit, List<byte[]> words) implements Unit {}

  /** What has touched a lane that no batch may touch after it. */
  private static final MessageBatch OF_A_WHOLE =
      new MessageBatch(new MessageBatch.Kind('c', 0, "", false, false, 0));

  private final Map<Integer, Integer> slots;
  private final List<Unit> units = new ArrayList<>();
  private final Map<MessageBatch.Kind, MessageBatch> open = new HashMap<>();
  private final Map<MessageId, MessageBatch> touched = new HashMap<>();

  /**
   * No batches yet.
   *
   * @param slots place of each slot in KEYS, from 1
   */
  MessageBatches(Map<Integer, Integer> slots) {
    this.slots = slots;
  }

  /** Adds a commit that is sent for the first time, the {@code number}th of its call. */
  void add(MessageCommit commit, int number) {
    if (isSimple(commit.messages())) {
      addEach(commit.messages().get(0), commit, number);
    } else {
      addWhole(commit, number);
    }
  }

  /** One change, or publishes that are applied or refused together anyway. */
  private static boolean isSimple(List<SlotMessages> messages) {
    if (messages.size() > 1) {
      return false;
    }
    List<MessageChange> changes = messages.get(0).changes();
    if (changes.size() == 1) {
      return !(changes.get(0) instanceof Expect);
    }
    if (!(changes.get(0) instanceof Publish)) {
      return false;
    }
    MessageBatch.Kind kind = MessageBatch.Kind.of(changes.get(0), 1);
    return changes.stream().allMatch(change -> MessageBatch.Kind.of(change, 1).equals(kind));
  }

  private void addEach(SlotMessages messages, MessageCommit commit, int number) {
    for (MessageChange change : messages.changes()) {
      add(change, place(messages), commit, number);
    }
  }

  private void add(MessageChange change, int slot, MessageCommit commit, int number) {
    MessageBatch.Kind kind = MessageBatch.Kind.of(change, slot);
    MessageId lane = lane(change.id());
    MessageBatch batch = open.get(kind);
    MessageBatch touchedBy = touched.get(lane);
    boolean inOrder =
        touchedBy == null || (batch != null && touchedBy.equals(batch) && batch.takesLaneAgain());
    if (!inOrder || (batch != null && batch.isFull())) {
      close();
      batch = null;
    }
    if (batch == null) {
      batch = new MessageBatch(kind);
      open.put(kind, batch);
      units.add(new Joined(batch));
    }
    batch.add(change, commit, number);
    touched.put(lane, batch);
  }

  /** Adds a commit that is applied or refused as a whole, the {@code number}th of its call. */
  void addWhole(MessageCommit commit, int number) {
    List<MessageId> lanes =
        commit.messages().stream()
            .flatMap(of -> of.changes().stream())
            .map(change -> lane(change.id()))
            .toList();
    if (lanes.stream().anyMatch(touched::containsKey)) {
      close();
    }
    lanes.forEach(lane -> touched.put(lane, OF_A_WHOLE));
    units.add(new Whole(number, whole(commit)));
  }

  /** What comes from now on comes after all before it. */
  private void close() {
    open.clear();
    touched.clear();
  }

  private List<byte[]> whole(MessageCommit commit) {
    MessageBatches own = new MessageBatches(slots);
    List<byte[]> words = new ArrayList<>();
    words.add(new byte[] {'c'});
    words.add(MessageBatch.number(commit.sequence()));
    for (SlotMessages messages : commit.messages()) {
      own.addEach(messages, commit, 0);
    }
    words.add(MessageBatch.number(own.units.size()));
    own.write(words);
    return words;
  }

  private int place(SlotMessages messages) {
    return Objects.requireNonNull(slots.get(messages.slot()));
  }

  private static MessageId lane(MessageId id) {
    return id.id().indexOf(':') < 0 ? id : new MessageId(id.topic(), id.lane());
  }

  void write(List<byte[]> to) {
    for (Unit unit : units) {
      if (unit instanceof Joined joined) {
        joined.batch.write(to);
      } else if (unit instanceof Whole whole) {
        to.addAll(whole.words);
      }
    }
  }

  /** The commits that a refusal means. */
  List<Integer> commits(int unit, int item) {
    return units.get(unit) instanceof Whole whole
        ? List.of(whole.commit)
        : ((Joined) units.get(unit)).batch.commits(item);
  }
}
