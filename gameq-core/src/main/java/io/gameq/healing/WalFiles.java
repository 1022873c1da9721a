package io.gameq.healing;

import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import io.gameq.wal.WalReport;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads records to be replayed from the files of a WAL. One thread. */
final class WalFiles implements ReplaySource {
  private static final Logger LOG = LoggerFactory.getLogger(WalFiles.class);

  private final WalPlaces wal;
  private final String id;

  WalFiles(WalPlaces wal, String id) {
    this.wal = wal;
    this.id = id;
  }

  @Override
  public String id() {
    return id;
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
