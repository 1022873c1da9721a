package io.gameq.wal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.WalFullException;
import io.gameq.change.Commit;
import io.gameq.config.WalLimits;
import io.gameq.config.WalSync;
import io.gameq.wal.FileScan.WalDamage;
import io.gameq.wal.WalReader.WalReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** WALs that are being written: read meanwhile, on a full disk, synced. */
class WalLiveTest {
  private static final int READS = 20;
  private static final int MOST_RECORDS = 500_000;

  @TempDir Path parent;

  @Test
  void readingBesideABusyWriterSeesEveryRecordAndNoDamage() throws Exception {
    WalLimits limits =
        new WalLimits(
            Duration.ofHours(1), 1L << 40, 0, WalSync.OFF, 2 << 20, Duration.ofMinutes(10));
    AtomicBoolean stop = new AtomicBoolean();
    AtomicLong appended = new AtomicLong();
    int reads = 0;
    int filesSeen = 0;
    try (WalWriter wal = WalSpecimen.writer(parent, "0badcafe", limits)) {
      CompletableFuture<Void> writing =
          CompletableFuture.runAsync(
              () -> {
                Random random = new Random(7);
                while (!stop.get() && appended.get() < MOST_RECORDS) {
                  Commit commit = WalSpecimen.commit(random, random.nextInt(300));
                  wal.append(commit);
                  appended.set(commit.sequence());
                  if (commit.sequence() % 10 == 0) { // else a slow reader never catches up
                    LockSupport.parkNanos(1_000_000);
                  }
                }
              });
      while ((reads < READS || filesSeen <= 3) && !writing.isDone()) {
        long before = appended.get();
        long from = reads % 2 == 0 ? 1 : Math.max(1, before - 200);
        List<Long> sequences = new ArrayList<>();
        WalReport report =
            WalReader.read(
                wal.directory(), from, Long.MAX_VALUE, entry -> sequences.add(entry.sequence()));
        assertEquals(List.of(), report.damage(), "read " + reads);
        for (int i = 0; i < sequences.size(); i++) {
          assertEquals(from + i, sequences.get(i));
        }
        assertTrue(report.lastSequence() >= before, "what was appended before is read");
        reads++;
        filesSeen = WalDirectory.files(wal.directory()).size();
      }
      stop.set(true);
      writing.get(1, TimeUnit.MINUTES);
    }
    System.out.printf(
        "%d reads beside a writer of %d records in %d files%n", reads, appended.get(), filesSeen);
    assertTrue(reads >= READS && filesSeen > 3, reads + " reads, " + filesSeen + " files");
  }

  @Test
  void aRecordThatIsBeingWrittenIsNoDamageAndTheSameBytesOfADeadWriterAre() throws IOException {
    Path directory;
    try (WalWriter wal = WalSpecimen.writer(parent, "0badcafe", WalLimits.DEFAULT)) {
      wal.append(WalSpecimen.commit(new Random(1), 500));
      wal.append(WalSpecimen.commit(new Random(2), 500));
      directory = wal.directory();
      WalSpecimen w = WalSpecimen.copy(directory, parent.resolve("copy"));
      w.overwrite(
          w.last().file(), w.last().offset() - 4, (byte) 0, (byte) 0, (byte) 0, (byte) 0x80);
      w.zero(w.last().file(), w.last().offset() + 300, 100);
      assertEquals(
          WalDamage.Kind.TORN_TAIL,
          WalReader.read(w.directory, entry -> {}).damage().get(0).kind());
      try (var live = WalDirectory.lock(relock(w.directory))) {
        WalReport report = WalReader.read(w.directory, entry -> {});
        assertEquals(List.of(), report.damage());
        assertEquals(w.last().sequence() - 1, report.lastSequence());
      }
    }
  }

  @Test
  void aFileThatIsBeingBegunIsNoDamageAndTheSameBytesOfADeadWriterAre() throws IOException {
    Path directory;
    try (WalWriter wal = WalSpecimen.writer(parent, "0badcafe", WalSpecimen.SMALL_FILES)) {
      for (int i = 0; i < 400; i++) {
        wal.append(WalSpecimen.commit(new byte[1_000], 1));
      }
      directory = wal.directory();
    }
    WalSpecimen w = WalSpecimen.copy(directory, parent.resolve("copy"));
    WalSpecimen.Place first = w.in(w.last().file()).get(0);
    w.zero(first.file(), first.offset() + 8, (int) (w.size(first.file()) - first.offset() - 8));
    w.overwrite(first.file(), first.offset() - 4, (byte) 0, (byte) 0, (byte) 0, (byte) 0x80);
    assertEquals(
        List.of(WalDamage.Kind.FOREIGN_FILE),
        WalReader.read(w.directory, entry -> {}).damage().stream().map(WalDamage::kind).toList());
    try (var live = WalDirectory.lock(relock(w.directory))) {
      WalReport report = WalReader.read(w.directory, entry -> {});
      assertEquals(List.of(), report.damage());
      assertEquals(first.sequence() - 1, report.lastSequence());
    }
  }

  private static Path relock(Path directory) throws IOException {
    Files.delete(directory.resolve(WalDirectory.LOCK_FILE));
    return directory;
  }

  @Test
  void aWalIsLiveWhileItsWriterIs() {
    WalWriter wal = WalSpecimen.writer(parent, "0badcafe", WalLimits.DEFAULT);
    assertTrue(WalDirectory.isBeingWritten(wal.directory()));
    wal.close();
    assertFalse(WalDirectory.isBeingWritten(wal.directory()));
  }

  @Test
  void onlyTheOwnerMayLookIntoAWal() throws IOException {
    try (WalWriter wal = WalSpecimen.writer(parent, "0badcafe", WalSpecimen.SMALL_FILES)) {
      for (int i = 0; i < 400; i++) {
        wal.append(WalSpecimen.commit(new byte[1_000], 1));
      }
      assertEquals("rwx------", permissions(wal.directory()));
      try (Stream<Path> files = Files.list(wal.directory())) {
        List<Path> all = files.toList();
        assertTrue(all.size() > 4, all::toString);
        for (Path file : all) {
          assertEquals("rw-------", permissions(file), file::toString);
        }
      }
    }
  }

  private static String permissions(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void syncingIsOfferedWhereItIsWanted() {
    WalLimits group = WalLimits.of(Duration.ofHours(1), 4L << 30, 0, WalSync.GROUP);
    try (WalWriter wal = WalSpecimen.writer(parent, "0badcafe", group)) {
      assertTrue(wal.isSyncing());
      wal.append(WalSpecimen.commit(new byte[100], 1));
      wal.sync();
      wal.sync();
    }
    try (WalWriter wal = WalSpecimen.writer(parent, "0badcaff", WalLimits.DEFAULT)) {
      assertFalse(wal.isSyncing());
      wal.sync();
    }
  }

  /** Needs the right to mount a tmpfs. */
  @Test
  void onAFullDiskCommitsAreRefusedWithoutDamageAndTakenAgainOnceThereIsRoom() throws Exception {
    Path disk = Files.createDirectory(parent.resolve("disk"));
    Assumptions.assumeTrue(
        run("mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", disk.toString()) == 0,
        "skipped: needs the right to mount a tmpfs");
    try {
      Path filler = Files.write(disk.resolve("filler"), new byte[4 << 20]);
      WalLimits limits =
          new WalLimits(
              Duration.ofHours(1), 1L << 40, 0, WalSync.OFF, 3 << 20, Duration.ofMinutes(10));
      Path directory;
      try (WalWriter wal = WalSpecimen.writer(disk, "0badcafe", limits)) {
        directory = wal.directory();
        long full = fillUp(wal);
        Files.delete(filler);
        long again = fillUp(wal);
        assertTrue(again > full, "appending goes on by itself");
        assertEquals(again, readAll(directory));
      }
      long records = readAll(directory);
      assertTrue(records > 4_000, () -> "records: " + records);
    } finally {
      run("umount", disk.toString());
    }
  }

  /** Returns the last sequence before the WAL was full. */
  private static long fillUp(WalWriter wal) {
    long[] last = {0};
    assertThrows(
        WalFullException.class,
        () -> {
          while (true) {
            Commit commit = WalSpecimen.commit(new byte[1_000], 1);
            wal.append(commit);
            last[0] = commit.sequence();
          }
        });
    return last[0];
  }

  private static long readAll(Path directory) {
    WalReport report = WalReader.read(directory, entry -> {});
    assertEquals(List.of(), report.damage());
    return report.lastSequence();
  }

  private static int run(String... command) throws IOException, InterruptedException {
    try {
      return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor();
    } catch (IOException e) { // there is no such command
      return -1;
    }
  }
}
