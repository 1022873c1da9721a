package io.gameq.healing;

import io.gameq.healing.HealingStep.MessageRecords;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalReader.WalReport;
import io.gameq.wal.WalRecord;
import io.gameq.wal.WalWriter;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The WAL of a node that heals. */
public interface ReplaySource {
  /** The WAL's name, under which Redis keeps its journal marks. */
  String id();

  /**
   * Hands over records in the order of their sequences; those that nobody needs any more, and are
   * gone, are left out.
   *
   * @param sequences in order
   */
  void read(long[] sequences, Records to);

  /**
   * Hands over the records of a stretch which change messages and are where they were written
   * first, in order, and the marks of failed commits among them.
   */
  default void readMessages(MessageRecords.Stretch of, Consumer<WalReader.Entry> to) {}

  /** Takes the records. */
  interface Records {
    /** A commit, or rows that were adopted; without its messages when those are too old. */
    void record(long sequence, WalRecord record);

    /** A record that the WAL cannot give back: it is damaged. */
    void unreadable(long sequence);
  }

  /** Its files: nothing of them is deleted while they are read. One thread. */
  final class WalFiles implements ReplaySource {
    private static final Logger LOG = LoggerFactory.getLogger(WalFiles.class);

    private final WalWriter wal;

    public WalFiles(WalWriter wal) {
      this.wal = wal;
    }

    @Override
    public String id() {
      return wal.id();
    }

    @Override
    public void read(long[] sequences, Records to) {
      wal.hold();
      try {
        new Pass(sequences, to).run();
      } finally {
        wal.release();
      }
    }

    @Override
    public void readMessages(MessageRecords.Stretch of, Consumer<WalReader.Entry> to) {
      wal.hold();
      try {
        WalReport report =
            WalReader.read(
                wal.directory(),
                of.from(),
                of.to(),
                entry -> {
                  if (entry.place() <= of.to() && !entry.isCarried()) {
                    to.accept(entry);
                  }
                });
        if (!report.isWhole()) {
          LOG.error(
              "the WAL {} is damaged: messages that Redis lost may be missing; see 'gameq-recovery"
                  + " inspect'",
              wal.directory());
        }
      } finally {
        wal.release();
      }
    }

    /**
     * One pass in the order of the sequences. Records that were carried forward stand behind later
     * ones: so the WAL is read in as many stretches as it takes.
     */
    private final class Pass {
      private final long[] wanted;
      private final long[] places; // of these records in the WAL
      private final Records to;
      private int next;
      private int end; // of the stretch that is being read

      Pass(long[] sequences, Records to) {
        this.wanted = LongStream.of(sequences).filter(record -> wal.place(record) > 0).toArray();
        this.places = LongStream.of(wanted).map(wal::place).toArray();
        this.to = to;
      }

      void run() {
        while (next < wanted.length) {
          int from = next;
          end = from + 1;
          while (end < wanted.length && places[end] > places[end - 1]) {
            end++;
          }
          WalReader.read(wal.directory(), places[from], places[end - 1], this::take);
          while (next < end) {
            unreadable(wanted[next++]);
          }
        }
      }

      private void take(WalReader.Entry entry) {
        while (next < end && places[next] < entry.place()) {
          unreadable(wanted[next++]);
        }
        if (next < end && places[next] == entry.place()) {
          next++;
          if (entry.isCarried()) {
            to.record(entry.sequence(), new WalRecord.Committed(entry.record().parts()));
          } else if (!entry.record().parts().isEmpty()) {
            to.record(entry.sequence(), entry.record());
          }
        }
      }

      private void unreadable(long sequence) {
        LOG.error(
            "Redis lost WAL record {}, and the WAL {} cannot give it back: see 'gameq-recovery"
                + " inspect'",
            sequence,
            wal.directory());
        to.unreadable(sequence);
      }
    }
  }
}
