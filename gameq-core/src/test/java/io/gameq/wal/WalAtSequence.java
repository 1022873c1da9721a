package io.gameq.wal;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.config.WalLimits;
import io.gameq.config.WalSync;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.wal.WalWriter.WalNeeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A WAL as it is after a long time: the records of a real one, written again. Not thread-safe. */
public final class WalAtSequence {
  private static final WalLimits SMALL_FILES =
      new WalLimits(Duration.ZERO, 1L << 30, 0, WalSync.OFF, 1 << 20, Duration.ofHours(1));

  private final Map<Long, Commit> commits = new HashMap<>();
  private final List<Long> waiting = new ArrayList<>();
  private final WalWriter to;

  private WalAtSequence(WalWriter to) {
    this.to = to;
  }

  /** Writes a WAL again below {@code parent}, from a sequence on; returns its directory. */
  public static Path copy(Path wal, Path parent, long firstSequence) {
    try (WalWriter to = again(wal, parent, firstSequence, WalLimits.DEFAULT).to) {
      return to.directory();
    }
  }

  /**
   * Writes a WAL again below {@code parent}, and its newest commit until a second file is begun;
   * then the first is deleted, and all in it that did not fail is carried forward.
   *
   * @param killed whether its node died just before the first file was deleted
   */
  public static Path carried(Path wal, Path parent, boolean killed) throws IOException {
    WalAtSequence again = again(wal, parent, 1, SMALL_FILES);
    try (WalWriter to = again.to) {
      Commit newest = Objects.requireNonNull(again.commits.get(again.waiting.get(0)));
      long waits = again.waiting.get(again.waiting.size() - 1);
      while (WalDirectory.files(to.directory()).size() < 2) {
        to.append(newest);
      }
      Path first = WalDirectory.files(to.directory()).get(0).path();
      Path saved = Files.copy(first, parent.resolve("saved"));
      to.retain(
          new WalNeeds(
              to.newestSequence() + 1, again.waiting.stream().mapToLong(seq -> seq).toArray()));
      if (Files.exists(first) || to.place(waits) == waits) {
        throw new IllegalStateException("nothing was carried");
      }
      if (killed) {
        Files.copy(saved, first);
      }
      Files.delete(saved);
      return to.directory();
    }
  }

  private static WalAtSequence again(Path wal, Path parent, long firstSequence, WalLimits limits) {
    List<WalRecord.Entry> entries = new ArrayList<>();
    WalRecord.Header header = Objects.requireNonNull(WalReader.read(wal, entries::add).header());
    List<WalRecord.Layout> layouts =
        entries.stream()
            .map(WalRecord.Entry::record)
            .filter(WalRecord.Layout.class::isInstance)
            .map(WalRecord.Layout.class::cast)
            .distinct()
            .toList();
    WalWriter.Start start =
        new WalWriter.Start(
            parent,
            header.namespace(),
            header.slots(),
            header.database(),
            header.node(),
            header.walId().substring(header.walId().length() - 8),
            header.startMillis());
    WalAtSequence again =
        new WalAtSequence(WalWriter.create(start, limits, layouts, firstSequence));
    entries.forEach(again::append);
    return again;
  }

  private void append(WalRecord.Entry entry) {
    if (entry.record() instanceof WalRecord.Committed committed) {
      Commit commit = commit(committed.parts());
      to.append(commit);
      commits.put(entry.sequence(), commit);
      waiting.add(commit.sequence());
    } else if (entry.record() instanceof WalRecord.Failed failed) {
      Commit commit = Objects.requireNonNull(commits.get(failed.sequence()));
      to.appendFailed(commit);
      waiting.remove(commit.sequence());
    } else if (entry.record() instanceof WalRecord.Adopted adopted) {
      waiting.add(to.appendAdopted(part(adopted.part())));
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
        part.rows().stream().map(ChangedRow::new).toList());
  }
}
