package io.gameq.wal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalReader.WalReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random damage to a WAL of several files: every record none of whose bytes were touched comes back
 * as it was written, none is invented, and what is missing is counted right.
 */
class WalRandomDamageTest {
  private static final int ROUNDS = 150;

  @TempDir Path parent;

  @Test
  void everyRecordWithoutATouchedByteIsRecoveredAndNoneIsInvented() throws IOException {
    long seed = Long.getLong("gameq.seed", new Random().nextLong());
    System.out.println("seed " + seed + " (rerun with -Dgameq.seed=" + seed + ")");
    Random random = new Random(seed);
    Path wal = WalSpecimen.write(parent, "0badcafe", 500, random);
    Map<Long, WalRecord> written = new HashMap<>();
    WalReader.read(wal, entry -> written.put(entry.sequence(), entry.record()));
    long damaged = 0;
    long undamaged = 0;
    Path small = WalSpecimen.copy(wal, parent.resolve("small")).directory;
    for (int round = 0; round < ROUNDS; round++) {
      WalSpecimen w = WalSpecimen.copy(small, parent.resolve("copy"));
      assertEquals(written.size(), w.places.size());
      int hits = 1 + random.nextInt(6);
      for (int hit = 0; hit < hits; hit++) {
        damage(w, random);
      }
      check(w, written, "seed " + seed + ", round " + round);
      damaged += w.places.size() - w.undamaged().size();
      undamaged += w.undamaged().size();
      delete(w.directory);
    }
    System.out.printf(
        "%d rounds of random damage: %d records damaged, %d of %d undamaged ones recovered%n",
        ROUNDS, damaged, undamaged, undamaged);
    assertTrue(damaged > ROUNDS, "the damage hit too little");
  }

  private static void damage(WalSpecimen w, Random random) throws IOException {
    List<String> files =
        w.files().stream().filter(file -> Files.exists(w.directory.resolve(file))).toList();
    if (files.isEmpty()) {
      return;
    }
    String file = files.get(random.nextInt(files.size()));
    long size = w.size(file);
    if (size == 0) {
      return;
    }
    long at = (long) (random.nextDouble() * size);
    switch (random.nextInt(20)) {
      case 0 -> w.truncate(file, at);
      case 1 -> {
        if (files.size() > 2) {
          w.remove(file);
        }
      }
      case 2, 3, 4 -> w.zero(file, at & -512L, (int) Math.min(4096, size - (at & -512L)));
      case 5, 6, 7 -> {
        byte[] noise = new byte[(int) Math.min(1 + random.nextInt(3000), size - at)];
        random.nextBytes(noise);
        w.overwrite(file, at, noise);
      }
      case 8, 9 -> { // a piece of the same file in another place
        byte[] all = Files.readAllBytes(w.directory.resolve(file));
        int from = random.nextInt(all.length);
        int length = (int) Math.min(Math.min(2000, all.length - from), size - at);
        w.overwrite(file, at, java.util.Arrays.copyOfRange(all, from, from + length));
      }
      default -> w.flip(file, at * 8 + random.nextInt(8));
    }
  }

  private static void check(WalSpecimen w, Map<Long, WalRecord> written, String where) {
    Set<Long> recovered = new TreeSet<>();
    WalReport report =
        WalReader.read(
            w.directory,
            entry -> {
              assertTrue(recovered.add(entry.sequence()), where + ": twice " + entry.sequence());
              assertSame(
                  Objects.requireNonNull(written.get(entry.sequence()), where),
                  entry.record(),
                  where);
            });
    Set<Long> lost = new TreeSet<>(w.undamaged());
    lost.removeAll(recovered);
    assertEquals(Set.of(), lost, () -> where + ": not recovered, " + report.damage());
    assertEquals(recovered.size(), report.records());
  }

  private static void assertSame(WalRecord expected, WalRecord actual, String where) {
    if (expected instanceof WalRecord.Committed before
        && actual instanceof WalRecord.Committed after) {
      assertEquals(before.parts().size(), after.parts().size(), where);
      List<EncodedRow> was = before.parts().get(0).rows();
      List<EncodedRow> is = after.parts().get(0).rows();
      assertEquals(
          was.stream().map(EncodedRow::key).toList(),
          is.stream().map(EncodedRow::key).toList(),
          where);
      for (int i = 0; i < was.size(); i++) {
        assertArrayEquals(was.get(i).image(), is.get(i).image(), where);
      }
    } else {
      assertEquals(expected, actual, where);
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
