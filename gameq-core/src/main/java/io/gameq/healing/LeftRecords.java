package io.gameq.healing;

import io.gameq.GameQueueException;
import io.gameq.change.Unsettled;
import io.gameq.change.VersionClock;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.SessionKeys;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.JournalMarks;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.RowHeader;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The records of a WAL whose node is gone that its journal marks do not prove to be in Redis, by
 * session: what Redis may have lost. Takes 8 bytes for each. One thread.
 */
final class LeftRecords {
  private final SlotKeys[] slots;
  private final JournalMarks marks;
  private final boolean areRowsDurable;
  private final long[] newest;
  private final Map<String, HeldSession> sessions = new HashMap<>();
  private final Map<Long, Long> carried = new HashMap<>();
  private final Set<Long> failed = new HashSet<>();
  private WalRecord.@Nullable Header header;
  private long records;
  private long oldestMillis = Long.MAX_VALUE;

  /** Nothing yet; {@code areRowsDurable}: only messages can be missing. */
  LeftRecords(SlotKeys[] slots, JournalMarks marks, boolean areRowsDurable) {
    this.areRowsDurable = areRowsDurable;
    this.slots = slots;
    this.marks = marks;
    this.newest = new long[slots.length];
  }

  void take(WalReader.Entry entry) {
    WalRecord record = entry.record();
    if (entry.isCarried()) {
      carried.put(entry.sequence(), entry.place());
    }
    if (record instanceof WalRecord.Header first && header == null) {
      header = first;
    } else if (record instanceof WalRecord.Committed committed) {
      committed.parts().forEach(part -> add(entry.sequence(), part));
      committed.messages().forEach(of -> note(entry.sequence(), of.slot()));
    } else if (record instanceof WalRecord.Adopted adopted) {
      add(entry.sequence(), adopted.part());
    } else if (record instanceof WalRecord.Failed of) {
      failed.add(of.sequence());
    }
  }

  private void note(long sequence, int slot) {
    if (slot < newest.length) {
      newest[slot] = Math.max(newest[slot], sequence);
    }
  }

  /** By slot, the newest sequence; 0 for none. */
  long[] newest() {
    return newest.clone();
  }

  private void add(long sequence, WalRecord.Part part) {
    OwnerId owner = OwnerId.ofEncoded(part.owner());
    SlotKeys slot = slots[owner.slot(slots.length)];
    note(sequence, slot.slot());
    if (areRowsDurable || !marks.lacks(slot.slot(), sequence)) {
      return;
    }
    records++;
    HeldSession of =
        sessions.computeIfAbsent(
            part.owner() + " " + part.session(),
            name -> {
              SessionRef ref =
                  new SessionRef(owner, SessionId.parse(part.session()), owner.slot(slots.length));
              return new HeldSession(ref, new SessionKeys(slot, ref), new Sequences());
            });
    ((Sequences) of.unsettled()).add(sequence);
    for (EncodedRow row : part.rows()) {
      oldestMillis = Math.min(oldestMillis, millis(row.image()));
    }
  }

  private static long millis(byte[] image) {
    try {
      return VersionClock.millis(RowHeader.version(image));
    } catch (GameQueueException e) { // damaged: a writer sets it aside
      return Long.MAX_VALUE;
    }
  }

  WalRecord.@Nullable Header header() {
    return header;
  }

  /** Where records stand that were carried forward, by sequence. */
  Map<Long, Long> carried() {
    return carried;
  }

  Collection<HeldSession> sessions() {
    return sessions.values();
  }

  /** Commits and adoptions, each once for every session in it. */
  long records() {
    return records;
  }

  /** When the oldest row among them was changed, Unix ms; {@code Long.MAX_VALUE} for none. */
  long oldestMillis() {
    return oldestMillis;
  }

  /** The sequences of one session, but for those that failed. */
  private final class Sequences implements Unsettled {
    private long[] all = new long[4];
    private int size;

    void add(long sequence) {
      if (size == all.length) {
        all = Arrays.copyOf(all, 2 * size);
      }
      all[size++] = sequence;
    }

    @Override
    public void beyond(long mark, LongConsumer sequences) {
      for (int i = 0; i < size; i++) {
        if (all[i] > mark && !failed.contains(all[i])) {
          sequences.accept(all[i]);
        }
      }
    }

    @Override
    public void doubt() {}
  }
}
