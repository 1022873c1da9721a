package io.gameq.healing;

import io.gameq.wal.WalReader;
import io.gameq.wal.WalReader.WalReport;
import io.gameq.wal.WalRecord;
import io.gameq.wal.WalWriter;
import java.util.Arrays;
import java.util.BitSet;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
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
  default void readMessages(SequenceRange of, Consumer<WalRecord.Entry> to) {}

  /** Sequences of a WAL, from and to included. */
  record SequenceRange(long from, long to) {}

  /** Takes the records. */
  interface Records {
    /**
     * A commit, or rows that were adopted; without its messages when those are too old.
     *
     * @param record null: the WAL cannot give it back, since it is damaged
     */
    void take(long sequence, @Nullable WalRecord record);
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

    /**
     * Records that were carried forward stand behind later ones: so the WAL is read in as many
     * stretches as it takes.
     */
    @Override
    public void read(long[] sequences, Records to) {
      wal.hold();
      try {
        long[] wanted = LongStream.of(sequences).filter(record -> wal.place(record) > 0).toArray();
        long[] places = LongStream.of(wanted).map(wal::place).toArray();
        for (int from = 0, end; from < wanted.length; from = end) {
          end = from + 1;
          while (end < wanted.length && places[end] > places[end - 1]) {
            end++;
          }
          read(wanted, places, from, end, to);
        }
      } finally {
        wal.release();
      }
    }

    private void read(long[] wanted, long[] places, int from, int end, Records to) {
      BitSet missing = new BitSet();
      missing.set(from, end);
      WalReader.read(
          wal.directory(),
          places[from],
          places[end - 1],
          entry -> {
            int at = Arrays.binarySearch(places, from, end, entry.place());
            if (at >= 0) {
              missing.clear(at);
              if (entry.isCarried()) {
                to.take(entry.sequence(), new WalRecord.Committed(entry.record().parts()));
              } else if (!entry.record().parts().isEmpty()) {
                to.take(entry.sequence(), entry.record());
              }
            }
          });
      missing.stream()
          .forEach(
              at -> {
                LOG.error(
                    "Redis lost WAL record {}, and the WAL {} cannot give it back: see"
                        + " 'gameq-recovery inspect'",
                    wanted[at],
                    wal.directory());
                to.take(wanted[at], null);
              });
    }

    @Override
    public void readMessages(SequenceRange of, Consumer<WalRecord.Entry> to) {
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
  }
}
