package io.gameq.wal;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import io.gameq.config.Password;
import io.gameq.config.WalLimits;
import io.gameq.config.WalSync;
import io.gameq.wal.WalReader.WalReport;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The file code of a WAL on file systems of Linux, macOS and Windows, in memory. Chronicle Queue
 * writes to real files alone, so the WAL that is read here was copied there.
 */
class PlatformFilesTest {
  private static final int RECORDS = 600;

  private static Path written;

  private @Nullable FileSystem files;

  private enum Platform {
    LINUX("Linux", "/srv/wal"),
    MACOS("Mac OS X", "/Users/anna/wal"),
    WINDOWS("Windows 11", "C:\\Users\\anna\\wal");

    private final String system;
    private final String walDirectory;

    Platform(String system, String walDirectory) {
      this.system = system;
      this.walDirectory = walDirectory;
    }

    boolean isPosix() {
      return this != WINDOWS;
    }

    FileSystem files() {
      Configuration of =
          switch (this) {
            case LINUX -> Configuration.unix();
            case MACOS -> Configuration.osX();
            case WINDOWS -> Configuration.windows();
          };
      return Jimfs.newFileSystem(
          isPosix()
              ? of.toBuilder().setAttributeViews("basic", "owner", "posix", "unix").build()
              : of.toBuilder().setAttributeViews("basic", "owner", "dos", "acl", "user").build());
    }
  }

  @BeforeAll
  static void writeAWal(@TempDir Path parent) {
    written = WalSpecimen.write(parent, "0badcafe", RECORDS, new Random(7));
  }

  /** The WAL directory of a game on this platform. */
  private Path walDirectory(Platform platform) throws IOException {
    FileSystem created = platform.files();
    files = created;
    return Files.createDirectories(created.getPath(platform.walDirectory));
  }

  private Path copyOfTheWal(Platform platform) throws IOException {
    return WalSpecimen.copy(written, walDirectory(platform)).directory;
  }

  @AfterEach
  void closeFiles() throws IOException {
    if (files != null) {
      files.close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void readsAWalThatAnotherSystemWrote(Platform platform) throws IOException {
    Path wal = copyOfTheWal(platform);
    List<Long> sequences = new ArrayList<>();
    WalReport report = WalReader.read(wal, entry -> sequences.add(entry.sequence()));
    assertEquals(List.of(), report.damage());
    assertTrue(sequences.size() >= RECORDS, sequences::toString);
    assertEquals(names(WalDirectory.files(written)), names(WalDirectory.files(wal)));
  }

  private static List<String> names(List<FileScan.WalFile> files) {
    return files.stream().map(FileScan.WalFile::name).toList();
  }

  @ParameterizedTest
  @EnumSource
  void findsWhatEarlierStartsLeft(Platform platform) throws IOException {
    Path wal = copyOfTheWal(platform);
    Path parent = wal.resolveSibling("");
    assertEquals(List.of(wal), WalDirectory.left(parent, "node-1"));
    assertEquals(List.of(wal), WalDirectory.find(List.of(parent)));
    assertEquals("0badcafe", WalDirectory.process(wal));
  }

  @ParameterizedTest
  @EnumSource
  void aWalIsBeingWrittenUntilItsLockIsClosed(Platform platform) throws IOException {
    Path wal = copyOfTheWal(platform);
    Files.delete(wal.resolve(WalDirectory.LOCK_FILE));
    try (Closeable lock = WalDirectory.lock(wal)) {
      assertTrue(WalDirectory.isBeingWritten(wal));
      assertEquals(List.of(), WalDirectory.left(wal.resolveSibling(""), "node-1"));
    }
    assertFalse(WalDirectory.isBeingWritten(wal));
  }

  @ParameterizedTest
  @EnumSource
  void numbersAreReplacedWhole(Platform platform) throws IOException {
    Path wal = copyOfTheWal(platform);
    WalDirectory.write(wal, WalDirectory.NEWEST_FILE, 7);
    WalDirectory.write(wal, WalDirectory.NEWEST_FILE, 8, 9);
    assertArrayEquals(new long[] {8, 9}, WalDirectory.read(wal, WalDirectory.NEWEST_FILE, 2));
    try (Stream<Path> all = Files.list(wal)) {
      assertFalse(all.anyMatch(file -> file.toString().endsWith(WalDirectory.PREPARED_SUFFIX)));
    }
  }

  @ParameterizedTest
  @EnumSource
  void removesACompleteWalAndNothingElse(Platform platform) throws IOException {
    Path wal = copyOfTheWal(platform);
    Path other = Files.createFile(wal.resolveSibling("notes.txt"));
    Path directory = Files.createDirectory(wal.resolveSibling("saves"));
    WalLimits limits = WalLimits.of(Duration.ZERO, 1 << 30, 0, WalSync.OFF);
    WalDirectory.removeExpired(wal.resolveSibling(""), limits);
    assertTrue(Files.exists(wal), "it is not complete");
    WalDirectory.complete(wal, RECORDS, 1 << 20, 0);
    WalDirectory.removeExpired(wal.resolveSibling(""), limits);
    assertFalse(Files.exists(wal));
    assertTrue(Files.exists(other) && Files.exists(directory));
  }

  @ParameterizedTest
  @EnumSource
  void onlyItsUserReadsAFileWhereTheFileSystemCanSaySo(Platform platform) throws IOException {
    Path parent = walDirectory(platform);
    Path wal =
        Files.createDirectory(
            parent.resolve("node-1"), WalDirectory.permissions(parent, "rwx------"));
    Path file = wal.resolve("records");
    WalDirectory.createFile(file);
    Path ofOthers = Files.createFile(wal.resolve("metadata"));
    WalDirectory.restrict(ofOthers);
    for (Path path : platform.isPosix() ? List.of(file, ofOthers) : List.<Path>of()) {
      assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
    }
    String lacking = lacking(wal, WalSync.OFF, platform);
    assertEquals(!platform.isPosix(), lacking.contains("only your user may read"), lacking);
  }

  private static String lacking(Path wal, WalSync sync, Platform platform) {
    return WalDirectory.lacking(wal, sync, platform.system).stream()
        .collect(Collectors.joining("; "));
  }

  @ParameterizedTest
  @EnumSource
  void saysWhereASyncIsNotToBeTrusted(Platform platform) throws IOException {
    Path wal = walDirectory(platform);
    String lacking = lacking(wal, WalSync.GROUP, platform);
    assertEquals(platform != Platform.LINUX, lacking.contains("walSync GROUP on "), lacking);
    assertFalse(lacking(wal, WalSync.OFF, platform).contains("walSync"));
  }

  @Test
  void windowsIsNotAskedToSyncADirectory() throws IOException {
    WalDirectory.sync(walDirectory(Platform.WINDOWS));
  }

  @ParameterizedTest
  @EnumSource
  void aPasswordFileMayEndItsLineAsItsSystemDoes(Platform platform) throws IOException {
    Path file = walDirectory(platform).resolve("password");
    Files.writeString(file, platform == Platform.WINDOWS ? "secret\r\n" : "secret\n");
    assertEquals("secret", Password.ofFile(file).read());
  }

  /** Windows deletes no file that is open or mapped; then a later retain tries again. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void aFileThatIsFullIsSoonNeitherOpenNorMapped(@TempDir Path parent) throws IOException {
    WalLimits limits =
        new WalLimits(Duration.ZERO, 1 << 30, 0, WalSync.OFF, 160 << 10, Duration.ofHours(1));
    try (WalWriter wal = WalSpecimen.writer(parent, "0badcaff", limits)) {
      while (WalDirectory.files(wal.directory()).size() < 4) {
        wal.append(WalSpecimen.commit(new byte[1_000], 1));
      }
      await().atMost(LONG).until(() -> heldOf(wal.directory(), 3).isEmpty()); // in the background
      wal.retain(WalWriter.WalNeeds.from(wal.newestSequence() + 1));
      assertEquals(1, WalDirectory.files(wal.directory()).size());
    }
  }

  /** Files that this process has open or mapped, but for the newest. */
  private static List<String> heldOf(Path wal, int closed) throws IOException {
    List<String> closedFiles =
        WalDirectory.files(wal).stream().limit(closed).map(file -> file.path().toString()).toList();
    List<String> held = new ArrayList<>(Files.readAllLines(Path.of("/proc/self/maps")));
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      for (Path link : open.toList()) {
        if (Files.isSymbolicLink(link)) {
          held.add(Files.readSymbolicLink(link).toString());
        }
      }
    }
    return held.stream().filter(one -> closedFiles.stream().anyMatch(one::endsWith)).toList();
  }
}
