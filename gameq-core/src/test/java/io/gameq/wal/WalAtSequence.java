package io.gameq.wal;

import io.gameq.OwnerId;
import io.gameq.SessionId;
import io.gameq.commit.ChangedRow;
import io.gameq.commit.Commit;
import io.gameq.commit.CommitPart;
import io.gameq.commit.SessionRef;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A WAL as it is after billions of records: a real one, written again from a chosen sequence on.
 */
public final class WalAtSequence {
  private WalAtSequence() {}

  /** Writes the records of a WAL into a new one below {@code parent}; returns its directory. */
  public static Path copy(Path wal, Path parent, long firstSequence) {
    List<WalReader.Entry> entries = new ArrayList<>();
    WalRecord.Header header =
        java.util.Objects.requireNonNull(WalReader.read(wal, entries::add).header());
    List<WalRecord.Layout> layouts =
        entries.stream()
            .map(WalReader.Entry::record)
            .filter(WalRecord.Layout.class::isInstance)
            .map(WalRecord.Layout.class::cast)
            .distinct()
            .toList();
    String process = header.walId().substring(header.walId().length() - 8);
    try (WalWriter to =
        WalWriter.create(
            new WalWriter.Start(
                parent,
                header.namespace(),
                header.slots(),
                header.node(),
                process,
                header.startMillis()),
            WalLimits.DEFAULT,
            layouts,
            firstSequence)) {
      Map<Long, Commit> commits = new HashMap<>();
      for (WalReader.Entry entry : entries) {
        if (entry.record() instanceof WalRecord.Committed committed) {
          Commit commit = commit(committed.parts());
          to.append(commit);
          commits.put(entry.sequence(), commit);
        } else if (entry.record() instanceof WalRecord.Failed failed) {
          to.appendFailed(java.util.Objects.requireNonNull(commits.get(failed.sequence())));
        } else if (entry.record() instanceof WalRecord.Adopted adopted) {
          to.appendAdopted(part(adopted.part()));
        }
      }
      return to.directory();
    }
  }

  private static Commit commit(List<WalRecord.Part> parts) {
    return new Commit(parts.stream().map(WalAtSequence::part).toList()) {
      @Override
      public void queued() {}

      @Override
      public void failed(RuntimeException reason) {}
    };
  }

  private static CommitPart part(WalRecord.Part part) {
    return new CommitPart(
        new SessionRef(OwnerId.ofEncoded(part.owner()), SessionId.parse(part.session()), 1),
        part.rows().stream().map(row -> new ChangedRow(row.key(), row.image())).toList());
  }
}
