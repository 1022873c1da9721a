package io.gameq.wal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.WalFullException;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.config.WalLimits;
import io.gameq.config.WalSync;
import io.gameq.wal.WalCodec.Envelope;
import io.gameq.wal.WalReader.WalReport;
import io.gameq.wal.WalRecord.Entry;
import io.gameq.wal.WalWriter.WalNeeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A row that waits for long pins no file: its record is carried forward. */
class WalCarryTest {
  private static final long FILE_BYTES = 160 << 10;
  private static final long NO_LIMIT = 1L << 40;

  @TempDir Path parent;

  private final Random random = new Random(1);

  private WalWriter writer(Duration keep, long maxBytes, WalSync sync) {
    return WalSpecimen.writer(
        parent,
        "0badcafe",
        new WalLimits(keep, maxBytes, 0, sync, FILE_BYTES, Duration.ofHours(1)));
  }

  private WalWriter writer() {
    return writer(Duration.ZERO, NO_LIMIT, WalSync.OFF);
  }

  private Commit append(WalWriter wal, int bytes) {
    Commit commit = WalSpecimen.commit(random, bytes);
    wal.append(commit);
    return commit;
  }

  /** Appends until so many files were begun; returns the last commit. */
  private Commit fill(WalWriter wal, int files) {
    String newest = newestFile(wal);
    for (int begun = 0; ; ) {
      Commit commit = append(wal, 1_000);
      if (!newestFile(wal).equals(newest)) {
        newest = newestFile(wal);
        if (++begun == files) {
          return commit;
        }
      }
    }
  }

  private static String newestFile(WalWriter wal) {
    List<FileScan.WalFile> files = WalDirectory.files(wal.directory());
    return files.get(files.size() - 1).name();
  }

  private static void retain(WalWriter wal, Commit last, long... records) {
    wal.retain(new WalNeeds(last.sequence() + 1, LongStream.of(records).sorted().toArray()));
  }

  private static List<Entry> read(Path directory) {
    List<Entry> entries = new ArrayList<>();
    WalReport report = WalReader.read(directory, entries::add);
    assertEquals(List.of(), report.damage());
    return entries;
  }

  private static List<Entry> of(Path directory, long sequence) {
    return read(directory).stream().filter(entry -> entry.sequence() == sequence).toList();
  }

  private static void assertHolds(Entry entry, Commit commit) {
    List<WalRecord.Part> parts = ((WalRecord.Committed) entry.record()).parts();
    assertEquals(commit.parts().size(), parts.size());
    for (int p = 0; p < parts.size(); p++) {
      CommitPart of = commit.parts().get(p);
      assertEquals(of.session().owner().encoded(), parts.get(p).owner());
      assertEquals(of.session().id().text(), parts.get(p).session());
      for (int r = 0; r < of.rows().size(); r++) {
        assertEquals(of.rows().get(r).key(), parts.get(p).rows().get(r).key());
        assertArrayEquals(of.rows().get(r).image(), parts.get(p).rows().get(r).image());
      }
    }
  }

  @Test
  void aRowThatWaitsIsCarriedForwardUnderItsOwnSequenceAndItsFileGoes() {
    try (WalWriter wal = writer()) {
      Commit waits = append(wal, 500);
      Commit last = fill(wal, 3);
      assertEquals(waits.sequence(), wal.place(waits.sequence()));
      retain(wal, last, waits.sequence());
      assertEquals(1, WalDirectory.files(wal.directory()).size());
      Entry carried = of(wal.directory(), waits.sequence()).get(0);
      assertHolds(carried, waits);
      assertEquals(last.sequence() + 1, carried.place());
      assertEquals(carried.place(), wal.place(waits.sequence()));
      assertEquals(0, wal.place(waits.sequence() + 1), "nothing needed that one");
      retain(wal, last, waits.sequence());
      assertEquals(carried.place(), wal.newestSequence(), "it is carried once");
    }
  }

  @Test
  void whatWaitsOnIsCarriedAgainAndWhatIsDurableByThenIsNot() {
    try (WalWriter wal = writer()) {
      Commit first = append(wal, 500);
      Commit second = append(wal, 500);
      long adopted = wal.appendAdopted(WalSpecimen.commit(random, 500).parts().get(0));
      retain(wal, fill(wal, 2), first.sequence(), second.sequence(), adopted);
      retain(wal, fill(wal, 2), second.sequence(), adopted);
      assertEquals(List.of(), of(wal.directory(), first.sequence()));
      assertHolds(of(wal.directory(), second.sequence()).get(0), second);
      assertTrue(of(wal.directory(), adopted).get(0).record() instanceof WalRecord.Adopted);
      Commit last = fill(wal, 2);
      retain(wal, last);
      assertTrue(read(wal.directory()).stream().noneMatch(Entry::isCarried));
    }
  }

  @Test
  void aFileOfWhichMuchIsNeededStays() {
    try (WalWriter wal = writer()) {
      Commit large = append(wal, 60_000); // few records, most of the bytes
      Commit last = fill(wal, 1);
      int files = WalDirectory.files(wal.directory()).size();
      long newest = wal.newestSequence();
      retain(wal, last, large.sequence());
      assertEquals(files, WalDirectory.files(wal.directory()).size());
      assertEquals(newest, wal.newestSequence());
      last = fill(wal, 8);
      retain(wal, last, large.sequence());
      assertEquals(1, WalDirectory.files(wal.directory()).size(), "little of all these is needed");
      assertHolds(of(wal.directory(), large.sequence()).get(0), large);
    }
  }

  @Test
  void whatIsOnItsWayOrBeingReadIsNotCarried() {
    try (WalWriter wal = writer()) {
      Commit waits = append(wal, 500);
      Commit last = fill(wal, 2);
      wal.retain(new WalNeeds(waits.sequence() + 1, new long[] {waits.sequence()}));
      assertEquals(3, WalDirectory.files(wal.directory()).size());
      wal.hold();
      retain(wal, last, waits.sequence());
      retain(wal, last);
      assertEquals(3, WalDirectory.files(wal.directory()).size(), "somebody reads them");
      wal.release();
      retain(wal, last, waits.sequence());
      assertEquals(1, WalDirectory.files(wal.directory()).size());
    }
  }

  @Test
  void aWalAtItsLimitTakesCommitsAgainOnceWhatWaitsWasCarried() {
    try (WalWriter wal = writer(Duration.ofHours(1), 4 * FILE_BYTES, WalSync.GROUP)) {
      Commit waits = append(wal, 500);
      List<Commit> taken = new ArrayList<>();
      assertThrows(
          WalFullException.class,
          () -> {
            while (taken.size() < 10_000) {
              taken.add(append(wal, 1_000));
            }
          });
      Commit last = taken.get(taken.size() - 1);
      retain(wal, last, waits.sequence());
      append(wal, 1_000);
      assertHolds(of(wal.directory(), waits.sequence()).get(0), waits);
      assertTrue(of(wal.directory(), waits.sequence()).get(0).isCarried());
    }
  }

  /** What a kill leaves: before the old file is noted as trimmed, and before it is deleted. */
  @Test
  void killedBetweenCarryingAndDeletingARecordStandsInTwoPlaces() throws IOException {
    try (WalWriter wal = writer()) {
      Commit waits = append(wal, 500);
      Commit last = fill(wal, 1);
      Path old = WalDirectory.files(wal.directory()).get(0).path();
      Path saved = Files.copy(old, parent.resolve("saved"));
      retain(wal, last, waits.sequence());
      Files.copy(saved, old);
      List<Entry> entries = of(wal.directory(), waits.sequence());
      assertEquals(2, entries.size());
      entries.forEach(entry -> assertHolds(entry, waits));
      Files.delete(wal.directory().resolve(WalDirectory.TRIMMED_FILE));
      assertEquals(2, of(wal.directory(), waits.sequence()).size());
    }
  }

  @Test
  void aDamagedFileThatHoldsWhatWaitsStays() throws IOException {
    try (WalWriter wal = writer()) {
      Commit waits = append(wal, 500);
      Commit last = fill(wal, 1);
      Path old = WalDirectory.files(wal.directory()).get(0).path();
      byte[] bytes = Files.readAllBytes(old);
      List<Long> offset = new ArrayList<>();
      try (FileScan scan = new FileScan(old, 1 << 20)) {
        scan.run(
            Envelope.tag(wal.id()),
            (buffer, at, length, found) -> {
              if (Envelope.sequence(buffer, at) == waits.sequence()) {
                offset.add(found + length - 1);
              }
            },
            false,
            false);
      }
      int at = offset.get(0).intValue();
      try (var file = new java.io.RandomAccessFile(old.toFile(), "rw")) {
        file.seek(at);
        file.write(bytes[at] ^ 1);
      }
      retain(wal, last, waits.sequence());
      assertTrue(Files.exists(old));
      assertEquals(last.sequence(), wal.newestSequence());
    }
  }
}
