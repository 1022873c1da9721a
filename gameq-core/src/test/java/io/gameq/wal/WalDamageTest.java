package io.gameq.wal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.config.WalLimits;
import io.gameq.wal.FileScan.WalDamage.Kind;
import io.gameq.wal.WalCodec.Encoder;
import io.gameq.wal.WalReader.WalReport;
import io.gameq.wal.WalSpecimen.Place;
import io.gameq.wal.WalWriter.WalNeeds;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * One scenario with the corruption as its parameter: damage a WAL of several files, prove that the
 * damage hit, read it, and see that it was detected and that every undamaged record came back.
 */
class WalDamageTest {
  private static final int COMMITS = 600;

  @TempDir static Path healthy;
  private static Path wal;
  private static Path other;

  @TempDir Path scratch;

  interface Damaging {
    void damage(WalSpecimen wal) throws IOException;
  }

  /** What happens to a WAL and what reading it must say. */
  enum Corruption {
    TORN_TAIL_OF_A_KILLED_PROCESS(
        Kind.TORN_TAIL,
        w -> {
          Place last = w.last();
          w.overwrite(last.file(), last.offset() - 4, ints(0x80000000 | last.length()));
          w.zero(last.file(), last.offset() + 20, last.length() - 20);
        }),
    TORN_TAIL_OF_A_POWER_LOSS(
        Kind.TORN_TAIL,
        w -> w.zero(w.last().file(), w.last().offset() + 20, w.last().length() - 20)),
    BIT_FLIP_IN_A_PAYLOAD(
        Kind.BAD_CHECKSUM, w -> w.flip(w.middle(1).file(), (w.middle(1).end() - 9) * 8 + 3)),
    BIT_FLIP_IN_THE_LAST_RECORD(
        Kind.BAD_CHECKSUM, w -> w.flip(w.last().file(), (w.last().end() - 9) * 8 + 3)),
    WRONG_CHECKSUM(
        Kind.BAD_CHECKSUM, w -> w.flip(w.middle(1).file(), (w.middle(1).offset() + 5) * 8)),
    LENGTH_OF_CHRONICLE_TOO_LONG(
        Kind.DAMAGED_HEADER,
        w -> w.overwrite(w.middle(1).file(), w.middle(1).offset() - 4, ints(0x00FF_FF00))),
    LENGTH_OF_CHRONICLE_TOO_SHORT(
        Kind.DAMAGED_HEADER,
        w -> w.overwrite(w.middle(1).file(), w.middle(1).offset() - 4, ints(4))),
    LENGTH_OF_CHRONICLE_ZERO(
        Kind.DAMAGED_HEADER,
        w -> w.overwrite(w.middle(1).file(), w.middle(1).offset() - 4, ints(0))),
    RECORD_TURNED_INTO_THE_END_OF_THE_FILE(
        Kind.DAMAGED_HEADER,
        w -> w.overwrite(w.middle(1).file(), w.middle(1).offset() - 4, ints(0xC0000000))),
    RECORD_TURNED_INTO_CHRONICLES_OWN(
        Kind.DAMAGED_HEADER, w -> w.flip(w.middle(1).file(), (w.middle(1).offset() - 4) * 8 + 30)),
    LENGTH_OF_OURS(
        Kind.DAMAGED_HEADER, w -> w.flip(w.middle(1).file(), (w.middle(1).offset() + 10) * 8)),
    MAGIC_OF_OURS(Kind.DAMAGED_HEADER, w -> w.flip(w.middle(1).file(), w.middle(1).offset() * 8)),
    START_OF_A_FILE(Kind.DAMAGED_HEADER, w -> w.overwrite(w.files().get(1), 0, noise(64))),
    FIRST_RECORDS_OF_A_FILE(
        Kind.DAMAGED_HEADER,
        w -> {
          Place first = w.in(w.files().get(1)).get(0);
          w.overwrite(first.file(), 0, noise((int) first.end() + 40));
        }),
    ZEROED_PAGE(
        Kind.ZEROED_PAGE, w -> w.zero(w.middle(1).file(), w.middle(1).offset() & -4096L, 4096)),
    ZEROED_PAGES_AT_THE_END_OF_AN_OLDER_FILE(
        Kind.ZEROED_PAGE,
        w -> {
          String file = w.files().get(1);
          long from = w.middle(1).offset();
          w.zero(file, from, (int) (w.size(file) - from));
        }),
    TRUNCATED_NEWEST_FILE(
        Kind.TRUNCATED_FILE, w -> w.truncate(w.last().file(), w.last().offset() + 30)),
    TRUNCATED_OLDER_FILE(
        Kind.TRUNCATED_FILE, w -> w.truncate(w.middle(1).file(), w.middle(1).offset() + 30)),
    TRUNCATED_BETWEEN_RECORDS(
        Kind.TRUNCATED_FILE, w -> w.truncate(w.middle(1).file(), w.middle(1).offset() - 4)),
    EMPTY_FILE(Kind.TRUNCATED_FILE, w -> w.truncate(w.files().get(1), 0)),
    MISSING_FIRST_FILE(Kind.MISSING_FILE, w -> w.remove(w.files().get(0))),
    MISSING_FILE(Kind.MISSING_FILE, w -> w.remove(w.files().get(1))),
    MISSING_METADATA(Kind.MISSING_FILE, w -> w.remove("metadata.cq4t")),
    FILE_OF_ANOTHER_WAL(
        Kind.FOREIGN_FILE,
        w -> {
          Path theirs = WalDirectory.files(other).get(0).path();
          Files.copy(theirs, w.directory.resolve("20260921-000000.cq4"));
        }),
    FILE_OF_NOISE(
        Kind.FOREIGN_FILE,
        w -> Files.write(w.directory.resolve("20260921-000000.cq4"), noise(100_000))),
    FILE_OF_ANOTHER_KIND(
        Kind.FOREIGN_FILE, w -> Files.writeString(w.directory.resolve("notes.txt"), "mine")),
    THE_SAME_FILE_TWICE(
        Kind.OUT_OF_SEQUENCE,
        w ->
            Files.copy(
                w.directory.resolve(w.files().get(1)), w.directory.resolve("20260921-000000.cq4")));

    private final Kind kind;

    @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
    private final Damaging damaging;

    Corruption(Kind kind, Damaging damaging) {
      this.kind = kind;
      this.damaging = damaging;
    }
  }

  /** As Chronicle Queue writes it. */
  private static byte[] ints(int value) {
    return ByteBuffer.allocate(4).putInt(Integer.reverseBytes(value)).array();
  }

  private static byte[] noise(int bytes) {
    byte[] noise = new byte[bytes];
    new Random(42).nextBytes(noise);
    return noise;
  }

  @BeforeAll
  static void writeHealthyWals() throws IOException {
    wal = WalSpecimen.write(healthy, "0badcafe", COMMITS, new Random(1));
    wal = WalSpecimen.copy(wal, healthy.resolve("small")).directory;
    other = WalSpecimen.write(healthy, "0badcaff", 20, new Random(2));
  }

  private WalSpecimen specimen() throws IOException {
    WalSpecimen copy = WalSpecimen.copy(wal, scratch);
    assertTrue(copy.files().size() >= 4, () -> copy.files().toString());
    return copy;
  }

  private static Set<Long> sequences(List<WalRecord.Entry> entries) {
    Set<Long> sequences = new TreeSet<>();
    entries.forEach(entry -> sequences.add(entry.sequence()));
    assertEquals(entries.size(), sequences.size(), "a record was handed over twice");
    return sequences;
  }

  @Test
  void aHealthyWalHasNoDamage() throws IOException {
    WalSpecimen w = specimen();
    List<WalRecord.Entry> read = new ArrayList<>();
    WalReport report = WalReader.read(w.directory, read::add);
    assertEquals(List.of(), report.damage());
    assertEquals(w.undamaged(), sequences(read));
    assertEquals(w.last().sequence(), report.lastSequence());
    assertEquals(
        COMMITS, read.stream().filter(e -> e.record() instanceof WalRecord.Committed).count());
    assertTrue(report.isWhole());
  }

  @ParameterizedTest
  @EnumSource
  void damageIsNamedAndEveryUndamagedRecordIsRecovered(Corruption corruption) throws IOException {
    WalSpecimen w = specimen();
    int files = w.countFiles();
    corruption.damaging.damage(w);
    assertTrue(w.isTouched() || w.countFiles() > files, "the damage hit nothing");

    List<WalRecord.Entry> read = new ArrayList<>();
    WalReport report = WalReader.read(w.directory, read::add);

    Set<Long> recovered = sequences(read);
    Set<Long> undamaged = w.undamaged();
    System.out.printf(
        "| %-42s | recovered %d of %d undamaged, %d damaged | %s%n",
        corruption.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' '),
        recovered.stream().filter(undamaged::contains).count(),
        undamaged.size(),
        w.places.size() - undamaged.size(),
        report.damage().isEmpty() ? "nothing" : report.damage().get(0));
    assertEquals(undamaged, recovered);
    assertNotNull(report.header());
    assertTrue(
        report.damage().stream().anyMatch(d -> d.kind() == corruption.kind),
        () -> "not detected as " + corruption.kind + ": " + report.damage());
    int damaged = w.places.size() - undamaged.size();
    int unfinished = corruption == Corruption.TORN_TAIL_OF_A_KILLED_PROCESS ? 1 : 0;
    assertEquals(damaged - unfinished, report.missing(), report.damage()::toString);
    assertEquals(report.missing() == 0, report.isWhole(), report.damage()::toString);
  }

  /** As of a copy that broke off, in a file whose room was there ahead. */
  @Test
  void aCopyThatIsCutWhereARecordEndsIsNotWhole() throws IOException {
    Path directory;
    try (WalWriter writer = WalSpecimen.writer(scratch, "0badcafd", WalLimits.DEFAULT)) {
      for (int i = 0; i < 9; i++) {
        writer.append(WalSpecimen.commit(new byte[100], 1));
      }
      writer.sync();
      writer.retain(WalNeeds.from(1));
      directory = writer.directory();
    }
    WalSpecimen w = WalSpecimen.copy(directory, scratch.resolve("copy"));
    Place cut = w.places.get(w.places.size() - 3);
    w.zero(cut.file(), cut.offset() - 4, (int) (w.size(cut.file()) - cut.offset() + 4));
    WalReport report = WalReader.read(w.directory, entry -> {});
    assertEquals(3, report.missing(), report.damage()::toString);
    assertFalse(report.isWhole());
    assertTrue(report.damage().toString().contains("this copy is cut"), report::toString);
  }

  @Test
  void aRecordThatAPlayerForgedIsNotBelievedWhenTheRecordAroundItIsDamaged() throws IOException {
    byte[] forged = new byte[400];
    Encoder body = new Encoder();
    body.commit(WalSpecimen.commit(new byte[3], 1));
    body.seal(0x1234, 5);
    System.arraycopy(body.bytes(), 0, forged, 60, body.length());
    Path directory;
    try (WalWriter writer = WalSpecimen.writer(scratch, "0badcafd", WalLimits.DEFAULT)) {
      writer.append(WalSpecimen.commit(forged, 1));
      writer.append(WalSpecimen.commit(new byte[5], 1));
      directory = writer.directory();
    }
    WalSpecimen w = WalSpecimen.copy(directory, scratch.resolve("copy"));
    Place around = w.places.get(2);
    w.flip(around.file(), (around.offset() + 30) * 8);
    List<WalRecord.Entry> read = new ArrayList<>();
    WalReport report = WalReader.read(w.directory, read::add);
    assertEquals(w.undamaged(), sequences(read));
    assertEquals(1, report.missing());
  }

  @Test
  void aRenamedDirectoryIsReadAllTheSame() throws IOException {
    WalSpecimen w = specimen();
    Path renamed = Files.move(w.directory, scratch.resolve("from the dead host"));
    List<WalRecord.Entry> read = new ArrayList<>();
    WalReport report = WalReader.read(renamed, read::add);
    assertEquals(List.of(), report.damage());
    assertEquals(w.undamaged(), sequences(read));
  }

  @Test
  void everySingleFileCanBeReadAlone() throws IOException {
    WalSpecimen w = specimen();
    String kept = w.files().get(2);
    for (String file : w.files()) {
      if (!file.equals(kept)) {
        w.remove(file);
      }
    }
    List<WalRecord.Entry> read = new ArrayList<>();
    WalReport report = WalReader.read(w.directory, read::add);
    assertEquals(w.undamaged(), sequences(read));
    assertNotNull(report.header());
    assertTrue(
        read.stream().anyMatch(entry -> entry.record() instanceof WalRecord.Layout),
        "the layouts come again in each file");
    assertFalse(report.isWhole());
  }

  @Test
  void readingFromASequenceLeavesOutWhatIsBefore() throws IOException {
    WalSpecimen w = specimen();
    w.remove(w.files().get(0)); // not read, so not missed
    long from = w.middle(2).sequence();
    List<WalRecord.Entry> read = new ArrayList<>();
    WalReport report = WalReader.read(w.directory, from, Long.MAX_VALUE, read::add);
    assertEquals(List.of(), report.damage());
    assertEquals(from, read.get(0).sequence());
    assertEquals(w.last().sequence() - from + 1, read.size());
    assertNotNull(report.header());
  }

  @Test
  void aDirectoryWithoutWalFilesIsNoWal() {
    GameQueueException e =
        assertThrows(GameQueueException.class, () -> WalReader.read(scratch, entry -> {}));
    assertTrue(e.getMessage().contains("is no WAL"));
    assertThrows(
        GameQueueException.class, () -> WalReader.read(scratch.resolve("gone"), entry -> {}));
  }
}
