package io.gameq.wal;

import io.gameq.GameQueueException;
import io.gameq.WalException;
import io.gameq.config.WalLimits;
import io.gameq.config.WalSync;
import io.gameq.wal.FileScan.WalFile;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directories of WALs: where they are, which files they have, who writes them, and which may be
 * removed. The files beside the records hold one number a line. Stateless, thread-safe.
 */
public final class WalDirectory {
  static final String SUFFIX = ".cq4";

  /** A file that is being prepared; without a record yet. */
  static final String PREPARED_SUFFIX = ".new";

  static final String METADATA_FILE = "metadata.cq4t";

  static final String LOCK_FILE = "writer.lock";

  /** {@code sequence}: records below it were durable, and their files were deleted. */
  static final String TRIMMED_FILE = "trimmed";

  /** {@code last sequence, bytes}: its node ended with everything durable. */
  static final String COMPLETE_FILE = "complete";

  /**
   * {@code Unix ms}: a complete WAL has messages that Redis may yet lose. From then on they are
   * safe once a start of its node has seen that Redis has them.
   */
  static final String MESSAGES_FILE = "messages";

  /** {@code sequence}: a record of it was written; what a copy holds may end before. */
  static final String NEWEST_FILE = "newest";

  private static final Logger LOG = LoggerFactory.getLogger(WalDirectory.class);

  /** Files that hold no records; {@link #COMPLETE_FILE} is removed last. */
  private static final Set<String> OTHER_FILES =
      Set.of(METADATA_FILE, LOCK_FILE, TRIMMED_FILE, COMPLETE_FILE, MESSAGES_FILE, NEWEST_FILE);

  /** What follows the node in a WAL id: the start and the process. */
  private static final String START_AND_PROCESS = "-\\d{8}T\\d{6}Z-[0-9a-f]{8}";

  private static final int PROCESS_DIGITS = 8;

  /** {@code wal/<node>-<start>-<process>/...} below what was given, and one above it. */
  private static final int DEPTH = 3;

  private static final int PEEK_BYTES = 64 << 10;

  /** Of this process: opening a lock file that it holds would give the lock up on closing. */
  private static final Set<Path> WRITTEN_HERE = ConcurrentHashMap.newKeySet();

  private WalDirectory() {}

  // --- finding WALs

  /**
   * The WALs among these directories and inside those that are none, in the order of their names.
   *
   * @throws GameQueueException naming the first directory that neither is nor holds a WAL
   */
  public static List<Path> find(Collection<Path> directories) {
    TreeSet<Path> found = new TreeSet<>();
    for (Path directory : directories) {
      List<Path> below = find(directory);
      found.addAll(below);
      if (below.isEmpty()) {
        throw new GameQueueException(
            directory
                + (Files.exists(directory) ? " is no WAL and holds none" : " does not exist")
                + ": give a directory <node>-<start>-<process> that holds .cq4 files, or one above"
                + " it");
      }
    }
    return List.copyOf(found);
  }

  private static List<Path> find(Path directory) {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> all = Files.find(directory, DEPTH, (path, is) -> is.isDirectory())) {
      return all.filter(path -> hasFile(path, ".*\\.cq4t?"))
          .map(path -> path.toAbsolutePath().normalize())
          .toList();
    } catch (IOException | UncheckedIOException e) {
      throw new GameQueueException("cannot look into " + directory + ": " + e.getMessage(), e);
    }
  }

  private static boolean hasFile(Path directory, String pattern) {
    try (Stream<Path> files = Files.list(directory)) {
      return files.anyMatch(file -> file.toString().matches(pattern));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * WALs that earlier starts of a node left, the oldest first: written by no process now, with
   * records, and not complete or with messages that Redis may yet lose.
   *
   * @throws WalException when the directory cannot be read
   */
  public static List<Path> left(Path walDirectory, String node) {
    Pattern ofNode = Pattern.compile(Pattern.quote(node) + START_AND_PROCESS);
    if (!Files.isDirectory(walDirectory)) {
      return List.of();
    }
    try (Stream<Path> directories = Files.list(walDirectory)) {
      return directories
          .filter(of -> ofNode.matcher(String.valueOf(of.getFileName())).matches())
          .filter(of -> !isComplete(of) || isKeptForMessages(of))
          .filter(of -> hasFiles(of) && !isBeingWritten(of))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new WalException("cannot read the WAL directory " + walDirectory + " (" + e + ")", e);
    }
  }

  /** Whether a WAL has files for records: it has none when its node died while it made it. */
  public static boolean hasFiles(Path wal) {
    try {
      return hasFile(wal, ".*\\.cq4");
    } catch (UncheckedIOException e) { // no directory, or removed meanwhile
      return false;
    }
  }

  /** The id of the process that wrote a WAL, 8 hex digits. */
  public static String process(Path wal) {
    String id = String.valueOf(wal.getFileName());
    return id.substring(Math.max(0, id.length() - PROCESS_DIGITS));
  }

  // --- its files

  /** The files in {@code directory} by their first sequence; those without records come last. */
  static List<WalFile> files(Path directory) {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(path -> path.toString().endsWith(SUFFIX))
          .map(WalDirectory::peek)
          .sorted(Comparator.comparingLong(WalFile::firstSequence).thenComparing(WalFile::path))
          .toList();
    } catch (IOException e) {
      throw new GameQueueException("cannot read " + directory + " (" + e + ")", e);
    }
  }

  private static WalFile peek(Path path) {
    WalFile file = null;
    try (FileScan scan = new FileScan(path, PEEK_BYTES)) {
      file = scan.first();
    } catch (IOException e) {
      // reading it will fail again, and say so
    }
    return file == null ? new WalFile(path, null, Long.MAX_VALUE) : file;
  }

  /** Whether a WAL has files of this name. */
  static boolean isOurs(String name) {
    return name.endsWith(SUFFIX) || name.endsWith(PREPARED_SUFFIX) || OTHER_FILES.contains(name);
  }

  /**
   * Permissions of a new file or directory. A WAL holds players' data: only the user that runs the
   * node may look into it. None where the file system has no such permissions.
   */
  public static FileAttribute<?>[] permissions(Path of, String permissions) {
    return isPosix(of)
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
        }
        : new FileAttribute<?>[0];
  }

  static void createFile(Path file) throws IOException {
    Files.createFile(file, permissions(file, "rw-------"));
  }

  /** Takes the permissions of others from a file that somebody else created. */
  static void restrict(Path file) throws IOException {
    if (isPosix(file)) {
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }
  }

  /** Not by {@code Files.getFileStore}, which needs /proc/mounts: a service may not see it. */
  private static boolean isPosix(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix");
  }

  /** Forces the names in a directory to the disk; nothing on Windows, which opens none. */
  static void sync(Path directory) throws IOException {
    if (isPosix(directory)) {
      try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
        channel.force(true);
      }
    }
  }

  /**
   * What a WAL lacks on a system other than Linux, for the log.
   *
   * @param system by {@code os.name}
   */
  static List<String> lacking(Path directory, WalSync sync, String system) {
    List<String> lacking = new ArrayList<>();
    if (!isPosix(directory)) {
      lacking.add(
          "the WAL in %s holds players' data, and %s has no permissions that keep others out: use"
                  .formatted(directory, system)
              + " a directory that only your user may read");
    }
    if (sync == WalSync.GROUP && !system.equals("Linux")) {
      lacking.add(
          "walSync GROUP on %s does not survive a power loss: run games on Linux"
              .formatted(system));
    }
    return lacking;
  }

  // --- the numbers beside the records

  /** Never half a file: the reader would take it for another number. */
  static void write(Path directory, String name, long... numbers) throws IOException {
    Path part = directory.resolve(name + PREPARED_SUFFIX);
    String lines = LongStream.of(numbers).mapToObj(n -> n + "\n").collect(Collectors.joining());
    Files.writeString(part, lines);
    restrict(part);
    Files.move(
        part,
        directory.resolve(name),
        StandardCopyOption.REPLACE_EXISTING,
        StandardCopyOption.ATOMIC_MOVE);
  }

  /** The numbers in a file; null unless there are so many. */
  static long @Nullable [] read(Path directory, String name, int count) {
    try {
      long[] numbers =
          Files.readAllLines(directory.resolve(name)).stream().mapToLong(Long::parseLong).toArray();
      return numbers.length == count ? numbers : null;
    } catch (IOException | NumberFormatException e) { // mostly: there is no such file
      return null;
    }
  }

  private static long number(Path directory, String name, long otherwise) {
    long[] numbers = read(directory, name, 1);
    return numbers == null ? otherwise : numbers[0];
  }

  /** A sequence that was written; 0 when nobody knows. */
  static long newest(Path directory) {
    return number(directory, NEWEST_FILE, 0);
  }

  /** The first sequence that is not deleted on purpose: 1 when none was, or nobody knows. */
  static long trimmedBelow(Path directory) {
    return Math.max(1, number(directory, TRIMMED_FILE, 1));
  }

  /**
   * Marks a WAL that nobody writes as complete: everything of it is in MySQL.
   *
   * @param lastSequence of its records
   * @param bytes that they take
   * @param messagesUntilMillis Unix ms until when Redis may yet lose messages of it; 0 for none
   * @throws WalException when it cannot be written; then it is not complete
   */
  public static void complete(Path wal, long lastSequence, long bytes, long messagesUntilMillis) {
    try {
      if (messagesUntilMillis > 0) {
        write(wal, MESSAGES_FILE, messagesUntilMillis);
      }
      write(wal, COMPLETE_FILE, lastSequence, bytes);
    } catch (IOException e) {
      throw new WalException("cannot mark the WAL in " + wal + " as complete (" + e + ")", e);
    }
  }

  /** Whether everything of a WAL is in MySQL. */
  public static boolean isComplete(Path wal) {
    return read(wal, COMPLETE_FILE, 2) != null;
  }

  /** Whether Redis may yet lose messages that the WAL has, though it is complete. */
  private static boolean isKeptForMessages(Path directory) {
    return Files.exists(directory.resolve(MESSAGES_FILE));
  }

  /** Redis has all messages of a complete WAL: it need not be kept for them much longer. */
  public static void messagesAreThere(Path wal) {
    if (number(wal, MESSAGES_FILE, 0) > System.currentTimeMillis()) {
      return;
    }
    try {
      Files.deleteIfExists(wal.resolve(MESSAGES_FILE));
    } catch (IOException e) {
      throw new WalException("cannot write into the WAL directory " + wal + " (" + e + ")", e);
    }
  }

  // --- who writes it

  /**
   * Marks a WAL as being written until the result is closed: a lock on a file in it, which the
   * operating system gives up when the process dies.
   */
  static Closeable lock(Path directory) throws IOException {
    Path real = directory.toRealPath();
    Path lock = directory.resolve(LOCK_FILE);
    createFile(lock);
    FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE);
    try {
      channel.tryLock(); // a file system without locks: readers then take the writer for dead
    } catch (IOException e) {
      channel.close();
    }
    WRITTEN_HERE.add(real);
    return () -> {
      WRITTEN_HERE.remove(real);
      channel.close();
    };
  }

  /**
   * Whether a process on this host writes the WAL: then marks of failed commits may still be added.
   * Once it does not it never will again: every process begins a WAL of its own. False for a copy,
   * and on a file system without locks.
   */
  public static boolean isBeingWritten(Path directory) {
    Path lock = directory.resolve(LOCK_FILE);
    try {
      if (WRITTEN_HERE.contains(directory.toRealPath())) {
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

  // --- removing complete ones

  private record Complete(Path directory, long bytes, long completedMillis) {}

  /**
   * Removes complete WALs that are older than {@link WalLimits#keep}, and the oldest beyond {@link
   * WalLimits#maxBytes}. Never touches others, nor files that are not a WAL's.
   */
  static void removeExpired(Path parent, WalLimits limits) throws IOException {
    List<Complete> wals = new ArrayList<>();
    try (Stream<Path> directories = Files.list(parent)) {
      for (Path directory : directories.toList()) {
        long[] complete = read(directory, COMPLETE_FILE, 2);
        if (complete != null && !isKeptForMessages(directory) && !isBeingWritten(directory)) {
          Path marker = directory.resolve(COMPLETE_FILE);
          wals.add(
              new Complete(directory, complete[1], Files.getLastModifiedTime(marker).toMillis()));
        }
      }
    }
    wals.sort(Comparator.comparingLong(Complete::completedMillis));
    long bytes = wals.stream().mapToLong(Complete::bytes).sum();
    for (Complete wal : wals) {
      boolean old = System.currentTimeMillis() - wal.completedMillis >= limits.keep().toMillis();
      if (old || bytes > limits.maxBytes()) {
        bytes -= wal.bytes;
        remove(wal.directory);
      }
    }
  }

  /** Removes one complete WAL; what fails is left to the next start. */
  static void remove(Path directory) {
    try {
      try (Stream<Path> files = Files.list(directory)) {
        for (Path file : files.toList()) {
          String name = String.valueOf(file.getFileName());
          if (isOurs(name) && !name.equals(COMPLETE_FILE)) {
            Files.deleteIfExists(file);
          }
        }
      }
      // Last: without it, nothing would ever remove the rest.
      Files.deleteIfExists(directory.resolve(COMPLETE_FILE));
      Files.deleteIfExists(directory);
      LOG.info("removed the WAL {}: all of it is in MySQL", directory);
    } catch (IOException e) {
      LOG.warn("cannot remove the WAL {}: {}", directory, e.toString());
    }
  }
}
