package io.gameq.wal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.WalFullException;
import io.gameq.change.Commit;
import io.gameq.config.WalLimits;
import io.gameq.config.WalSync;
import io.gameq.wal.WalReader.WalReport;
import io.gameq.wal.WalWriter.RoomGuard;
import io.gameq.wal.WalWriter.WalNeeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WalRetentionTest {
  private static final long FILE_BYTES = 160 << 10;
  private static final Duration HOUR = Duration.ofHours(1);
  private static final long NO_LIMIT = 1L << 40;

  @TempDir Path parent;

  private static WalLimits limits(Duration keep, long maxBytes) {
    return new WalLimits(keep, maxBytes, 0, WalSync.OFF, FILE_BYTES, HOUR);
  }

  private WalWriter writer(String process, WalLimits limits) {
    return WalSpecimen.writer(parent, process, limits);
  }

  /** Appends until the WAL has so many files; returns the last commit. */
  private static Commit fill(WalWriter wal, int files) {
    Commit commit;
    do {
      commit = WalSpecimen.commit(new byte[1_000], 1);
      wal.append(commit);
    } while (WalDirectory.files(wal.directory()).size() < files);
    return commit;
  }

  private static List<Long> read(WalWriter wal) {
    List<Long> sequences = new ArrayList<>();
    WalReport report = WalReader.read(wal.directory(), entry -> sequences.add(entry.sequence()));
    assertEquals(List.of(), report.damage());
    assertNotNull(report.header());
    return sequences;
  }

  private static List<Long> firstSequences(WalWriter wal) {
    return WalDirectory.files(wal.directory()).stream()
        .map(FileScan.WalFile::firstSequence)
        .toList();
  }

  @Test
  void aColumnListThatCameLaterIsAtTheStartOfEachLaterFileToo() {
    WalRecord.Layout later = new WalRecord.Layout("item", 5, "id int,horns int");
    try (WalWriter wal = writer("00000001", limits(HOUR, NO_LIMIT))) {
      wal.append(WalSpecimen.commit(new byte[10], 1));
      wal.appendLayouts(List.of(later));
      wal.appendLayouts(List.of(later)); // known by now
      fill(wal, 2);
      List<WalRecord.Layout> layouts = new ArrayList<>();
      WalReader.read(
          wal.directory(),
          entry -> {
            if (entry.record() instanceof WalRecord.Layout layout && layout.equals(later)) {
              layouts.add(layout);
            }
          });
      assertEquals(List.of(later, later), layouts, "once a file");
    }
  }

  @Test
  void filesGoOnceAllTheyHoldIsDurableAndOldEnough() {
    try (WalWriter wal = writer("0badcafe", limits(Duration.ZERO, NO_LIMIT))) {
      Commit last = fill(wal, 4);
      List<Long> firsts = firstSequences(wal);
      wal.retain(WalNeeds.from(1));
      assertEquals(firsts, firstSequences(wal), "everything is needed");
      wal.retain(WalNeeds.from(firsts.get(2) - 1));
      assertEquals(firsts.subList(1, 4), firstSequences(wal), "the second file holds a needed one");
      assertEquals(firsts.get(1), read(wal).get(0));
      wal.retain(WalNeeds.from(last.sequence() + 1));
      assertEquals(firsts.subList(3, 4), firstSequences(wal), "the newest file stays");
      assertEquals(firsts.get(3), read(wal).get(0));
    }
  }

  @Test
  void durableRecordsAreKeptForAWhile() {
    try (WalWriter wal = writer("0badcafe", limits(HOUR, NO_LIMIT))) {
      Commit last = fill(wal, 3);
      wal.retain(WalNeeds.from(last.sequence() + 1));
      assertEquals(3, firstSequences(wal).size());
    }
  }

  @Test
  void aWalThatIsTooLargeGivesDurableRecordsUpEarly() {
    try (WalWriter wal = writer("0badcafe", limits(HOUR, 4 * FILE_BYTES))) {
      Commit last = fill(wal, 4);
      wal.retain(WalNeeds.from(last.sequence() + 1));
      assertEquals(3, firstSequences(wal).size());
      assertTrue(read(wal).get(0) > 1);
    }
  }

  @Test
  void commitsAreRefusedWhileEverythingIsNeededAndTakenAgainOnceSomeIsDurable() {
    try (WalWriter wal = writer("0badcafe", limits(HOUR, 4 * FILE_BYTES))) {
      List<Commit> taken = new ArrayList<>();
      WalFullException full =
          assertThrows(
              WalFullException.class,
              () -> {
                while (taken.size() < 10_000) {
                  Commit commit = WalSpecimen.commit(new byte[1_000], 1);
                  wal.append(commit);
                  taken.add(commit);
                }
              });
      assertTrue(full.getMessage().contains("walMaxBytes"), full::getMessage);
      assertTrue(full.getMessage().contains(wal.directory().toString()), full::getMessage);
      Commit last = taken.get(taken.size() - 1);
      wal.appendFailed(last);
      wal.appendAdopted(last.parts().get(0));
      assertThrows(WalFullException.class, () -> wal.append(WalSpecimen.commit(new byte[9], 1)));

      wal.retain(WalNeeds.from(last.sequence()));
      Commit again = WalSpecimen.commit(new byte[1_000], 1);
      wal.append(again);
      List<Long> sequences = read(wal);
      assertEquals(again.sequence(), sequences.get(sequences.size() - 1));
    }
  }

  @Test
  void aNearlyFullFileSystemRefusesCommitsUntilThereIsRoomAndHasAReserveForMarks() {
    long[] free = {1_000L << 20};
    WalLimits limits = new WalLimits(HOUR, NO_LIMIT, 500L << 20, WalSync.OFF, FILE_BYTES, HOUR);
    RoomGuard guard = new RoomGuard(parent, limits, () -> free[0]);
    guard.requireFree(100, false);
    free[0] = 490L << 20;
    guard.requireFree(100, false); // it does not ask each time
    WalFullException full =
        assertThrows(WalFullException.class, () -> guard.requireFree(8 << 20, false));
    assertTrue(full.getMessage().contains("490 MiB free"), full::getMessage);
    assertTrue(full.getMessage().contains("walMinFreeBytes is 500 MiB"), full::getMessage);
    guard.requireFree(100, true);
    free[0] = 400L << 20;
    assertThrows(WalFullException.class, () -> guard.requireFree(8 << 20, true));
    free[0] = 501L << 20;
    guard.requireFree(100, false);
  }

  @Test
  void aNodeDoesNotStartOnANearlyFullFileSystem() throws IOException {
    WalLimits limits =
        new WalLimits(HOUR, NO_LIMIT, Long.MAX_VALUE / 2, WalSync.OFF, FILE_BYTES, HOUR);
    assertThrows(WalFullException.class, () -> writer("0badcafe", limits));
    try (var left = Files.list(parent)) {
      assertEquals(List.of(), left.toList());
    }
  }

  @Test
  void aNewFileIsBegunByAge() {
    WalLimits limits =
        new WalLimits(HOUR, NO_LIMIT, 0, WalSync.OFF, FILE_BYTES, Duration.ofNanos(1));
    try (WalWriter wal = writer("0badcafe", limits)) {
      wal.append(WalSpecimen.commit(new byte[1], 1));
      wal.append(WalSpecimen.commit(new byte[1], 1));
      assertEquals(2, firstSequences(wal).size());
      assertEquals(6, read(wal).size(), "header and layout are in each file");
    }
  }

  // --- WALs that are complete

  @Test
  void aCompleteWalGoesAtOnceWhereNothingIsKept() {
    WalWriter wal = writer("0badcafe", limits(Duration.ZERO, NO_LIMIT));
    wal.complete();
    wal.close();
    assertFalse(Files.exists(wal.directory()));
  }

  @Test
  void aWalIsKeptUnlessItIsComplete() throws IOException {
    WalWriter wal = writer("0badcafe", limits(Duration.ZERO, NO_LIMIT));
    wal.close();
    assertFalse(WalReader.read(wal.directory(), entry -> {}).complete());
    writer("0badcaff", limits(Duration.ZERO, NO_LIMIT)).close();
    assertTrue(Files.exists(wal.directory()), "it is not complete, however old");
  }

  @Test
  void aCompleteWalIsRemovedByALaterStartOnceItIsOldEnough() throws IOException {
    WalWriter wal = writer("0badcafe", limits(HOUR, NO_LIMIT));
    wal.append(WalSpecimen.commit(new byte[1_000], 1));
    wal.complete();
    wal.close();
    assertTrue(WalReader.read(wal.directory(), entry -> {}).complete());

    writer("0badcaff", limits(HOUR, NO_LIMIT)).close();
    assertTrue(Files.exists(wal.directory()));

    Files.setLastModifiedTime(
        wal.directory().resolve(WalDirectory.COMPLETE_FILE),
        FileTime.from(Instant.now().minus(Duration.ofHours(2))));
    writer("0badcafd", limits(HOUR, NO_LIMIT)).close();
    assertFalse(Files.exists(wal.directory()));
  }

  @Test
  void theOldestCompleteWalsGoBeyondTheLimitOfBytes() {
    List<Path> complete = new ArrayList<>();
    for (String process : List.of("0badcaf1", "0badcaf2", "0badcaf3")) {
      WalWriter wal = writer(process, limits(HOUR, NO_LIMIT));
      fill(wal, 2);
      wal.complete();
      wal.close();
      complete.add(wal.directory());
    }
    writer("0badcafe", limits(HOUR, 2 * FILE_BYTES)).close();
    assertTrue(Files.exists(complete.get(2)) || !Files.exists(complete.get(0)));
    assertFalse(Files.exists(complete.get(0)));
  }

  @Test
  void whatIsNotAWalsIsNeverRemoved() throws IOException {
    WalWriter wal = writer("0badcafe", limits(HOUR, NO_LIMIT));
    wal.complete();
    wal.close();
    Path notes = Files.writeString(wal.directory().resolve("notes.txt"), "mine");
    Path other = Files.createDirectory(parent.resolve("other"));
    writer("0badcaff", limits(Duration.ZERO, NO_LIMIT)).close();
    assertTrue(Files.exists(notes));
    assertTrue(Files.exists(other));
    assertEquals(List.of(), WalDirectory.files(wal.directory()));
  }
}
