package io.gameq.wal;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which files of a WAL stay: those with records that are needed, and those that are younger than
 * {@link io.gameq.WalLimits#keep}, or have messages that Redis may yet lose, while {@link
 * io.gameq.WalLimits#maxBytes} allow. Where little of the oldest ones is needed, it is written
 * again first, as carried records. Never touches the newest file.
 *
 * <p>Thread-safe by the writer's lock; {@link #retain} is for one thread at a time, and holds up
 * the writer for one record at a time. Killed anywhere, each needed record stands in one place or
 * in two: nothing is deleted before its other place was {@linkplain WalWriter#sync synced}.
 */
final class Retention {
  private static final Logger LOG = LoggerFactory.getLogger(Retention.class);

  private final WalWriter writer;
  private final ClosedFiles files;
  private final CarriedPlaces places = new CarriedPlaces();
  private long neededFrom;
  private boolean isCarriedUnsynced;
  private int holds;

  Retention(WalWriter writer, ClosedFiles files, long firstSequence) {
    this.writer = writer;
    this.files = files;
    this.neededFrom = firstSequence;
  }

  void retain(WalNeeds needs) {
    synchronized (writer) {
      places.keepOnly(needs.records());
      files.keepMessagesFrom(needs.messagesFrom());
    }
    while (true) {
      syncCarried();
      long[] waiting = places.of(needs.records()); // only this thread changes places
      needFrom(waiting.length == 0 ? needs.from() : Math.min(waiting[0], needs.from()));
      ClosedFiles.Sparse oldest = sparse(waiting, needs.from());
      if (oldest == null || !carry(oldest)) {
        return;
      }
    }
  }

  private void syncCarried() {
    if (isCarriedUnsynced) {
      writer.sync();
      isCarriedUnsynced = false;
    }
  }

  private void needFrom(long place) {
    synchronized (writer) {
      neededFrom = Math.max(neededFrom, place);
      deleteUnneeded();
    }
  }

  /** Makes room, by what is known to be unneeded. */
  void deleteUnneeded() {
    synchronized (writer) {
      long newest = writer.position();
      if (holds == 0 && newest >= 0) {
        files.delete(neededFrom, newest);
        writer.noteBytes();
      }
    }
  }

  private ClosedFiles.@Nullable Sparse sparse(long[] waiting, long carriedBelow) {
    synchronized (writer) {
      long newest = writer.position();
      return holds == 0 && newest >= 0 ? files.sparse(waiting, carriedBelow, newest) : null;
    }
  }

  /** Writes what is needed of the oldest file again; false when that does not help. */
  private boolean carry(ClosedFiles.Sparse oldest) {
    if (oldest.places().length == 0) {
      return false; // it could not be deleted, and will be tried again
    }
    LiveRecords live;
    try { // nobody else deletes it: it is needed
      live = LiveRecords.read(oldest);
    } catch (IOException e) {
      LOG.warn("cannot read {}: {}", oldest.file(), e.toString());
      return false;
    }
    if (!live.isWhole()) {
      LOG.error(
          "{} is kept: it is damaged, and holds records that wait for MySQL; see 'gameq-recovery"
              + " inspect'",
          oldest.file());
    }
    if (!live.isWhole() || live.bytes() > oldest.mostBytes()) {
      synchronized (writer) {
        files.measured(
            live.isWhole() ? (double) live.bytes() / oldest.places().length : Double.MAX_VALUE);
      }
      return true; // it is not sparse any more
    }
    isCarriedUnsynced = true;
    for (LiveRecords.Live record : live.records()) {
      synchronized (writer) {
        places.put(record.sequence(), writer.appendCarried(record));
      }
    }
    LOG.info(
        "carried {} records forward, whose rows wait for MySQL, from {}",
        live.records().size(),
        oldest.file());
    return true;
  }

  long place(long sequence) {
    synchronized (writer) {
      return sequence < files.first() && !places.has(sequence) ? 0 : places.of(sequence);
    }
  }

  void hold() {
    synchronized (writer) {
      holds++;
    }
  }

  void release() {
    synchronized (writer) {
      holds--;
    }
  }
}
