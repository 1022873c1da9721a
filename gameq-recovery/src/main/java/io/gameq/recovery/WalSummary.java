package io.gameq.recovery;

import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Counts what one WAL holds. Not thread-safe. */
final class WalSummary implements Consumer<WalReader.Entry> {
  private WalRecord.@Nullable Header header;
  private long records;
  private long commits;
  private long rows;
  private long failed;
  private long adopted;
  private final Set<String> owners = new HashSet<>();

  @Override
  public void accept(WalReader.Entry entry) {
    records++;
    if (entry.record() instanceof WalRecord.Header found) {
      header = found;
    } else if (entry.record() instanceof WalRecord.Committed committed) {
      commits++;
      committed.parts().forEach(this::count);
    } else if (entry.record() instanceof WalRecord.Adopted found) {
      adopted += found.part().rows().size();
      owners.add(found.part().owner());
    } else if (entry.record() instanceof WalRecord.Failed) {
      failed++;
    }
  }

  private void count(WalRecord.Part part) {
    owners.add(part.owner());
    rows += part.rows().size();
  }

  @Override
  public String toString() {
    String from =
        header == null
            ? "no header"
            : "node %s, namespace %s, %d slots, started %s"
                .formatted(
                    header.node(),
                    header.namespace(),
                    header.slots(),
                    Instant.ofEpochMilli(header.startMillis()));
    return "%s%n  %d records: %d commits with %d row changes (%d of them failed), %d rows adopted, %d owners"
        .formatted(from, records, commits, rows, failed, adopted, owners.size());
  }
}
