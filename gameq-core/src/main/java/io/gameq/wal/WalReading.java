package io.gameq.wal;

import io.gameq.GameQueueException;
import io.gameq.WalException;
import io.gameq.wal.FileScan.Envelope;
import io.gameq.wal.WalDamage.Kind;
import io.gameq.wal.WalReader.WalReport;
import io.gameq.wal.WalWriter.Permissions;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
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

  /**
   * A file of a WAL and what its first intact record says of it; immutable.
   *
   * @param first null when the file holds no intact record
   */
  record WalFile(Path path, @Nullable First first) {
    static final String SUFFIX = ".cq4";

    /** A file that is being prepared; without a record yet. */
    static final String PREPARED_SUFFIX = ".new";

    private static final int PEEK_BYTES = 64 << 10;

    /** The envelope of a file's first record. */
    record First(int tag, long sequence) {}

    String name() {
      return String.valueOf(path.getFileName());
    }

    long firstSequence() {
      return first == null ? Long.MAX_VALUE : first.sequence();
    }

    boolean isOf(int tag) {
      return first != null && first.tag() == tag;
    }

    /** The files in {@code directory} by their first sequence; those without records come last. */
    static List<WalFile> list(Path directory) {
      try (Stream<Path> files = Files.list(directory)) {
        return files
            .filter(path -> path.getFileName().toString().endsWith(SUFFIX))
            .map(path -> new WalFile(path, peek(path)))
            .sorted(Comparator.comparingLong(WalFile::firstSequence).thenComparing(WalFile::path))
            .toList();
      } catch (IOException e) {
        throw new GameQueueException("cannot read " + directory + " (" + e + ")", e);
      }
    }

    private static @Nullable First peek(Path path) {
      try (FileWindow window = new FileWindow(path, PEEK_BYTES)) {
        return FileScan.first(window);
      } catch (IOException e) {
        return null; // reading it will fail again, and say so
      }
    }
  }

  /**
   * Whether somebody writes a WAL now: its writer holds a lock on a file in it, which the operating
   * system gives up when the process dies. Thread-safe.
   */
  static final class LiveWals {
    static final String LOCK_FILE = "writer.lock";

    /** Of this process: opening a lock file that it holds would give the lock up on closing. */
    private static final Set<Path> OURS = ConcurrentHashMap.newKeySet();

    private LiveWals() {}

    /** Marks a WAL as live until the result is closed. */
    static Closeable hold(Path directory) throws IOException {
      Path real = directory.toRealPath();
      Path lock = directory.resolve(LOCK_FILE);
      Permissions.createFile(lock);
      FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE);
      try {
        channel.tryLock(); // a file system without locks: readers then take the writer for dead
      } catch (IOException e) {
        channel.close();
      }
      OURS.add(real);
      return () -> {
        OURS.remove(real);
        channel.close();
      };
    }

    static boolean isLive(Path directory) {
      Path lock = directory.resolve(LOCK_FILE);
      try {
        if (OURS.contains(directory.toRealPath())) {
          return true;
        }
        if (!Files.exists(lock)) {
          return false;
        }
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.READ);
            FileLock free = channel.tryLock(0, Long.MAX_VALUE, true)) {
          return free == null;
        }
      } catch (OverlappingFileLockException e) { // another thread looks at this moment
        return true;
      } catch (IOException e) {
        return false;
      }
    }
  }

  /**
   * Follows the sequences of the records that are found: which are missing, and which damage hides
   * them. Not thread-safe.
   */
  static final class SequenceCheck {
    private static final int NONE = -1;

    private final LongSupplier trimmedBelow;
    private final List<WalDamage> damage = new ArrayList<>();
    private final TreeMap<Long, Long> gaps = new TreeMap<>(); // first to last missing
    private long expected = 1;
    private long last;
    private String lastFile = "";
    private int hiding = NONE; // the damage since the last record that may hide the next ones
    private int again = NONE; // the damage that tells of records that came again, if the last did

    /**
     * @param trimmedBelow asked when records are missing: those below it were deleted on purpose
     */
    SequenceCheck(LongSupplier trimmedBelow) {
      this.trimmedBelow = trimmedBelow;
    }

    /** Nothing before {@code sequence} is missed. */
    void beginAt(long sequence) {
      expected = sequence;
    }

    /** Notes damage that hides no record of this WAL. */
    void found(Kind kind, String file, long offset, long bytes, String detail) {
      damage.add(new WalDamage(kind, file, offset, bytes, expected, expected - 1, detail));
    }

    /** Notes damage where records were; at least {@code records} of them. */
    void hidden(Kind kind, String file, long offset, long bytes, long records, String detail) {
      if (hiding == NONE) {
        hiding = damage.size();
      }
      damage.add(
          new WalDamage(kind, file, offset, bytes, expected, expected + records - 1, detail));
    }

    /** Notes an accepted record that cannot be decoded. */
    void unreadable(String file, long offset, long bytes, long sequence, String detail) {
      damage.add(
          new WalDamage(Kind.UNREADABLE_RECORD, file, offset, bytes, sequence, sequence, detail));
    }

    /** Notes an intact record; false when it was handed over before. */
    boolean accept(String file, long offset, long sequence) {
      if (sequence < expected) {
        return acceptEarlier(file, offset, sequence);
      }
      if (sequence > expected) {
        boolean isSameFile = file.equals(lastFile);
        missing(
            sequence - 1,
            isSameFile ? Kind.OUT_OF_SEQUENCE : Kind.MISSING_FILE,
            file,
            offset,
            isSameFile ? "the sequence jumps" : "nothing is damaged before it");
      }
      expected = sequence + 1;
      last = sequence;
      lastFile = file;
      hiding = NONE;
      again = NONE;
      return true;
    }

    /** The WAL is said to end with {@code sequence}. */
    void endsAt(long sequence, String source) {
      if (sequence >= expected) {
        missing(
            sequence,
            Kind.MISSING_FILE,
            source,
            0,
            "it says that the WAL went on: this copy is cut");
        expected = sequence + 1;
      }
    }

    private void missing(long to, Kind kind, String file, long offset, String detail) {
      long from = Math.max(expected, trimmedBelow.getAsLong());
      if (from > to) {
        return;
      }
      gaps.put(from, to);
      if (hiding == NONE) {
        damage.add(new WalDamage(kind, file, offset, 0, from, to, detail));
      } else {
        WalDamage known = damage.get(hiding);
        damage.set(
            hiding,
            new WalDamage(
                known.kind(),
                known.file(),
                known.offset(),
                known.bytes(),
                from,
                to,
                known.detail()));
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

    /** The highest sequence found. */
    long last() {
      return last;
    }

    List<WalDamage> damage() {
      return List.copyOf(damage);
    }
  }
}
