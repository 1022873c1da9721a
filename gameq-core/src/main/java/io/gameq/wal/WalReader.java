package io.gameq.wal;

import io.gameq.GameQueueException;
import io.gameq.WalException;
import io.gameq.wal.FileScan.WalDamage;
import io.gameq.wal.FileScan.WalDamage.Kind;
import io.gameq.wal.FileScan.WalFile;
import io.gameq.wal.WalCodec.Envelope;
import io.gameq.wal.WalRecord.Entry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads a WAL from its first record to its last, checking each; also while its node still writes.
 * Follows the sequences: which are missing, and which damage hides them. It needs neither Chronicle
 * Queue nor its JVM flags. Not thread-safe.
 */
public final class WalReader {
  private static final int NONE = -1;

  private final Path directory;
  private final long fromSequence;
  private final long toSequence;
  private final Consumer<Entry> sink;
  private final Set<Path> seen = new HashSet<>();
  private final List<WalDamage> damage = new ArrayList<>();
  private final TreeMap<Long, Long> gaps = new TreeMap<>(); // first to last missing
  private WalRecord.@Nullable Header header;
  private long records;
  private long bytes;
  private long expected = 1;
  private long last;
  private String lastFile = "";
  private int hiding = NONE; // the damage since the last record that may hide the next ones
  private int again = NONE; // the damage that tells of records that came again, if the last did

  private WalReader(Path directory, long fromSequence, long toSequence, Consumer<Entry> sink) {
    this.directory = directory;
    this.fromSequence = fromSequence;
    this.toSequence = toSequence;
    this.sink = sink;
  }

  /** As {@link #read(Path, long, long, Consumer)}, of all records. */
  public static WalReport read(Path directory, Consumer<Entry> sink) {
    return read(directory, 1, Long.MAX_VALUE, sink);
  }

  /**
   * Hands every intact record from {@code fromSequence} on to {@code sink}, in order, also those
   * behind damage, and those behind {@code toSequence} in the same file. Headers and layouts come
   * again at the start of each file. Never fails because of damage; what is not read, since it lies
   * before, is not checked either.
   *
   * @param directory the directory of one process start
   * @param fromSequence a place, as is {@code toSequence}
   * @return what was found, and what is missing
   * @throws io.gameq.GameQueueException when this is no WAL: it has no .cq4 file
   */
  public static WalReport read(
      Path directory, long fromSequence, long toSequence, Consumer<Entry> sink) {
    return new WalReader(directory, fromSequence, toSequence, sink).run();
  }

  private WalReport run() {
    boolean live = WalDirectory.isBeingWritten(directory);
    List<WalFile> files = Files.isDirectory(directory) ? WalDirectory.files(directory) : List.of();
    if (files.isEmpty()) {
      throw new GameQueueException(
          directory
              + " is no WAL: give a directory <node>-<start>-<process> that holds .cq4 files");
    }
    int tag = tag(files);
    long newest = Math.min(WalDirectory.newest(directory), toSequence); // before what is read
    try {
      lookForOtherFiles();
      readAll(needed(files, tag, live), tag, live);
    } catch (IOException e) {
      throw new GameQueueException("cannot read " + directory + " (" + e + ")", e);
    }
    endsAt(newest, WalDirectory.NEWEST_FILE);
    long[] complete = WalDirectory.read(directory, WalDirectory.COMPLETE_FILE, 2);
    if (complete != null) {
      endsAt(complete[0], WalDirectory.COMPLETE_FILE);
    }
    return new WalReport(header, records, bytes, last, complete != null, List.copyOf(damage));
  }

  // --- files

  /**
   * The directory's name says it; where it was renamed, what most files begin with, which is a
   * header that no player wrote.
   */
  private int tag(List<WalFile> files) {
    int named = Envelope.tag(String.valueOf(directory.toAbsolutePath().normalize().getFileName()));
    Map<Integer, Integer> counts = new HashMap<>();
    for (WalFile file : files) {
      if (file.tag() != null) {
        counts.merge(file.tag(), 1, Integer::sum);
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
        if (!WalDirectory.isOurs(name)) {
          found(Kind.FOREIGN_FILE, name, 0, 0, "no WAL has a file of this name");
        }
      }
    }
    if (!Files.exists(directory.resolve(WalDirectory.METADATA_FILE))) {
      found(Kind.MISSING_FILE, WalDirectory.METADATA_FILE, 0, 0, "it holds no record");
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
      expected = ours.get(begin).firstSequence(); // nothing before is missed
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
    try (FileScan scan = new FileScan(file.path(), FileScan.WINDOW_BYTES)) {
      long size = scan.size();
      if (file.tag() != null) {
        found(Kind.FOREIGN_FILE, file.name(), 0, size, "it holds records of another WAL");
      } else if (size == 0) {
        found(Kind.TRUNCATED_FILE, file.name(), 0, 0, "the file is empty");
      } else if (scan.isStrange(live)) {
        found(Kind.FOREIGN_FILE, file.name(), 0, size, "it holds no intact record");
      }
    } catch (NoSuchFileException e) {
      // deleted by its writer meanwhile
    }
  }

  private void readAll(List<WalFile> files, int tag, boolean live) {
    Deque<WalFile> todo = new ArrayDeque<>(files);
    for (WalFile file; (file = todo.poll()) != null; ) {
      seen.add(file.path());
      try (FileScan scan = new FileScan(file.path(), FileScan.WINDOW_BYTES)) {
        InFile in = new InFile(file.name());
        boolean growing = live && todo.isEmpty();
        scan.run(tag, in, todo.isEmpty(), growing);
        if (growing) {
          todo.addAll(begunMeanwhile(tag));
          if (!todo.isEmpty()) {
            scan.run(tag, in, false, false); // its writer has gone on to the next: it is finished
          }
        }
      } catch (NoSuchFileException e) {
        // deleted by its writer meanwhile: the sequence tells whether it was to be
      } catch (IOException e) {
        hidden(Kind.UNREADABLE_FILE, file.name(), 0, 0, 0, e.toString());
      }
    }
  }

  private List<WalFile> begunMeanwhile(int tag) {
    return WalDirectory.files(directory).stream()
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
      if (!accept(file, offset, sequence) || (sequence < fromSequence && header != null)) {
        return;
      }
      Entry entry;
      try {
        entry = WalCodec.decode(buffer, at + Envelope.BYTES, at + length, sequence);
      } catch (WalException e) {
        damage.add(
            new WalDamage(
                Kind.UNREADABLE_RECORD,
                file,
                offset,
                length,
                sequence,
                sequence,
                String.valueOf(e.getMessage())));
        return;
      }
      if (header == null && entry.record() instanceof WalRecord.Header first) {
        header = first;
      }
      if (sequence >= fromSequence) {
        records++;
        bytes += length;
        sink.accept(entry);
      }
    }

    @Override
    public void damage(Kind kind, long offset, long length, long lost, String detail) {
      hidden(kind, file, offset, length, lost, detail);
    }
  }

  // --- sequences

  /** Notes damage that hides no record of this WAL. */
  private void found(Kind kind, String file, long offset, long length, String detail) {
    damage.add(new WalDamage(kind, file, offset, length, expected, expected - 1, detail));
  }

  /** Notes damage where records were; at least {@code lost} of them. */
  private void hidden(Kind kind, String file, long offset, long length, long lost, String detail) {
    if (hiding == NONE) {
      hiding = damage.size();
    }
    damage.add(new WalDamage(kind, file, offset, length, expected, expected + lost - 1, detail));
  }

  /** Notes an intact record; false when it was handed over before. */
  private boolean accept(String file, long offset, long sequence) {
    if (sequence < expected) {
      return acceptEarlier(file, offset, sequence);
    }
    if (file.equals(lastFile)) {
      missing(sequence - 1, Kind.OUT_OF_SEQUENCE, file, offset, "the sequence jumps");
    } else {
      missing(sequence - 1, Kind.MISSING_FILE, file, offset, "nothing is damaged before it");
    }
    expected = sequence + 1;
    last = sequence;
    lastFile = file;
    hiding = NONE;
    again = NONE;
    return true;
  }

  /** The WAL is said to end with {@code sequence}. */
  private void endsAt(long sequence, String source) {
    missing(
        sequence, Kind.MISSING_FILE, source, 0, "it says that the WAL went on: this copy is cut");
    expected = Math.max(expected, sequence + 1);
  }

  /** What is expected, up to {@code to}, was not found; what was deleted on purpose is no loss. */
  private void missing(long to, Kind kind, String file, long offset, String detail) {
    if (expected > to) {
      return;
    }
    long from = Math.max(expected, WalDirectory.trimmedBelow(directory));
    if (from > to) {
      return;
    }
    gaps.put(from, to);
    if (hiding == NONE) {
      damage.add(new WalDamage(kind, file, offset, 0, from, to, detail));
    } else {
      damage.set(hiding, damage.get(hiding).hiding(from, to));
    }
  }

  private boolean acceptEarlier(String file, long offset, long sequence) {
    Map.Entry<Long, Long> gap = gaps.floorEntry(sequence);
    boolean isNew = gap != null && sequence <= gap.getValue();
    if (gap != null && isNew) {
      gaps.remove(gap.getKey());
      if (gap.getKey() < sequence) {
        gaps.put(gap.getKey(), sequence - 1);
      }
      if (sequence < gap.getValue()) {
        gaps.put(sequence + 1, gap.getValue());
      }
    }
    if (again == NONE || !damage.get(again).file().equals(file)) {
      again = damage.size();
      found(
          Kind.OUT_OF_SEQUENCE,
          file,
          offset,
          0,
          "record %s comes behind record %s, %s"
              .formatted(sequence, last, isNew ? "late" : "again; it was not handed over twice"));
    }
    return isNew;
  }

  /**
   * What reading a WAL found; immutable.
   *
   * @param header null when no header survived
   * @param records how many were handed over
   * @param bytes that they take in the files
   * @param lastSequence the highest one handed over; 0 when there was none
   * @param complete whether its node ended with everything durable: nothing in it is needed
   * @param damage in the order of the files; empty for a healthy WAL
   */
  public record WalReport(
      WalRecord.@Nullable Header header,
      long records,
      long bytes,
      long lastSequence,
      boolean complete,
      List<WalDamage> damage) {
    private static final Set<Kind> HARMLESS =
        EnumSet.of(
            Kind.TORN_TAIL,
            Kind.FOREIGN_FILE,
            Kind.MISSING_FILE,
            Kind.OUT_OF_SEQUENCE,
            Kind.DAMAGED_HEADER);

    /**
     * Whether no record is missing, but for one that was not finished when its writer died: that
     * one was never acknowledged. A power loss can take the newest records without a trace.
     */
    public boolean isWhole() {
      return missing() == 0 && damage.stream().allMatch(of -> HARMLESS.contains(of.kind()));
    }

    /** How many records are known to be missing. */
    public long missing() {
      return damage.stream().mapToLong(WalDamage::missing).sum();
    }
  }
}
