package io.gameq.wal;

import io.gameq.GameQueueException;
import io.gameq.WalException;
import io.gameq.wal.WalDamage.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One reading of one WAL: its files in order. Not thread-safe. */
final class WalReading {
  private static final int WINDOW_BYTES = 1 << 20;
  private static final String METADATA_FILE = "metadata.cq4t";
  static final Set<String> OTHER_FILES =
      Set.of(
          METADATA_FILE,
          LiveWals.LOCK_FILE,
          WalMarkers.TRIMMED_FILE,
          WalMarkers.COMPLETE_FILE,
          WalMarkers.MESSAGES_FILE,
          WalMarkers.NEWEST_FILE);

  private final Path directory;
  private final long fromSequence;
  private final long toSequence;
  private final Consumer<WalReader.Entry> sink;
  private final SequenceCheck check;
  private final Set<Path> seen = new HashSet<>();

  private WalRecord.@Nullable Header header;
  private long records;
  private long bytes;

  WalReading(Path directory, long fromSequence, long toSequence, Consumer<WalReader.Entry> sink) {
    this.directory = directory;
    this.fromSequence = fromSequence;
    this.toSequence = toSequence;
    this.sink = sink;
    this.check = new SequenceCheck(() -> WalMarkers.trimmedBelow(directory));
  }

  WalReport run() {
    boolean live = LiveWals.isLive(directory);
    List<WalFile> files = Files.isDirectory(directory) ? WalFile.list(directory) : List.of();
    if (files.isEmpty()) {
      throw new GameQueueException(
          directory
              + " is no WAL: give a directory <node>-<start>-<process> that holds .cq4 files");
    }
    int tag = tag(files);
    long newest = Math.min(WalMarkers.newest(directory), toSequence); // before what is read
    try {
      lookForOtherFiles();
      readAll(needed(files, tag, live), tag, live);
    } catch (IOException e) {
      throw new GameQueueException("cannot read " + directory + " (" + e + ")", e);
    }
    check.endsAt(newest, WalMarkers.NEWEST_FILE);
    var complete = WalMarkers.complete(directory);
    complete.ifPresent(marker -> check.endsAt(marker.lastSequence(), WalMarkers.COMPLETE_FILE));
    return new WalReport(
        header, records, bytes, check.last(), complete.isPresent(), check.damage());
  }

  /**
   * The directory's name says it; where it was renamed, what most files begin with, which is a
   * header that no player wrote.
   */
  private int tag(List<WalFile> files) {
    int named = Envelope.tag(String.valueOf(directory.toAbsolutePath().normalize().getFileName()));
    Map<Integer, Integer> counts = new HashMap<>();
    for (WalFile file : files) {
      if (file.first() != null) {
        counts.merge(file.first().tag(), 1, Integer::sum);
      }
    }
    return counts.containsKey(named) || counts.isEmpty()
        ? named
        : Collections.max(counts.entrySet(), Map.Entry.comparingByValue()).getKey();
  }

  private void lookForOtherFiles() throws IOException {
    try (Stream<Path> entries = Files.list(directory)) {
      for (Path entry : entries.sorted().toList()) {
        String name = String.valueOf(entry.getFileName());
        if (!name.endsWith(WalFile.SUFFIX)
            && !name.endsWith(WalFile.PREPARED_SUFFIX)
            && !OTHER_FILES.contains(name)) {
          check.found(Kind.FOREIGN_FILE, name, 0, 0, "no WAL has a file of this name");
        }
      }
    }
    if (!Files.exists(directory.resolve(METADATA_FILE))) {
      check.found(Kind.MISSING_FILE, METADATA_FILE, 0, 0, "it holds no record");
    }
  }

  /** The files that hold {@code fromSequence} and what comes after it, to {@code toSequence}. */
  private List<WalFile> needed(List<WalFile> files, int tag, boolean live) throws IOException {
    List<WalFile> ours = files.stream().filter(file -> file.isOf(tag)).toList();
    int begin = 0;
    while (begin + 1 < ours.size() && ours.get(begin + 1).firstSequence() <= fromSequence) {
      seen.add(ours.get(begin++).path());
    }
    if (begin > 0) {
      check.beginAt(ours.get(begin).firstSequence());
    }
    for (WalFile file : files) {
      if (!file.isOf(tag)) {
        foreign(file, live);
      }
    }
    int end = ours.size();
    while (end - 1 > begin && ours.get(end - 1).firstSequence() > toSequence) {
      seen.add(ours.get(--end).path());
    }
    return ours.subList(begin, end);
  }

  /** A file that a writer had only prepared is all zeros, and no damage. */
  private void foreign(WalFile file, boolean live) throws IOException {
    try (FileWindow window = new FileWindow(file.path(), WINDOW_BYTES)) {
      if (file.first() != null) {
        check.found(
            Kind.FOREIGN_FILE, file.name(), 0, window.size(), "it holds records of another WAL");
      } else if (window.size() == 0) {
        check.found(Kind.TRUNCATED_FILE, file.name(), 0, 0, "the file is empty");
      } else if (window.endOfNonZero(0) > 0
          && !new ChronicleDocuments(window).isEmpty()
          && !(live && FileScan.isBeingBegun(window))) {
        check.found(Kind.FOREIGN_FILE, file.name(), 0, window.size(), "it holds no intact record");
      }
    } catch (NoSuchFileException e) {
      // deleted by its writer meanwhile
    }
  }

  private void readAll(List<WalFile> files, int tag, boolean live) {
    Deque<WalFile> todo = new ArrayDeque<>(files);
    for (WalFile file; (file = todo.poll()) != null; ) {
      seen.add(file.path());
      try (FileWindow window = new FileWindow(file.path(), WINDOW_BYTES)) {
        FileScan scan = new FileScan(window, tag, new InFile(file.name()));
        if (live && todo.isEmpty()) {
          scan.run(true, true);
          todo.addAll(begunMeanwhile(tag));
          if (!todo.isEmpty()) {
            scan.run(false, false); // its writer has gone on to the next file: it is finished now
          }
        } else {
          scan.run(todo.isEmpty(), false);
        }
      } catch (NoSuchFileException e) {
        // deleted by its writer meanwhile: the sequence tells whether it was to be
      } catch (IOException e) {
        check.hidden(Kind.UNREADABLE_FILE, file.name(), 0, 0, 0, e.toString());
      }
    }
  }

  private List<WalFile> begunMeanwhile(int tag) {
    return WalFile.list(directory).stream()
        .filter(file -> file.isOf(tag) && !seen.contains(file.path()))
        .filter(file -> file.firstSequence() <= toSequence)
        .toList();
  }

  /** Takes what is found in one file. */
  private final class InFile implements FileScan.Found {
    private final String file;

    InFile(String file) {
      this.file = file;
    }

    @Override
    public void record(byte[] buffer, int at, int length, long offset) {
      long sequence = Envelope.sequence(buffer, at);
      if (!check.accept(file, offset, sequence) || (sequence < fromSequence && header != null)) {
        return;
      }
      WalReader.Entry entry;
      try {
        entry = WalCodec.decode(buffer, at + Envelope.BYTES, at + length, sequence);
      } catch (WalException e) {
        check.unreadable(file, offset, length, sequence, e.getMessage());
        return;
      }
      if (header == null && entry.record() instanceof WalRecord.Header found) {
        header = found;
      }
      if (sequence >= fromSequence) {
        records++;
        bytes += length;
        sink.accept(entry);
      }
    }

    @Override
    public void damage(Kind kind, long offset, long length, long lost, String detail) {
      check.hidden(kind, file, offset, length, lost, detail);
    }
  }
}
