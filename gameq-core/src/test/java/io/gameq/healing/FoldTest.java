package io.gameq.healing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.healing.Fold.FoldedOwner;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalRecord;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FoldTest {
  private final Fold fold = fold(0, 1, Long.MAX_VALUE);
  private long sequence;

  private static Fold fold(int part, int of, long mostBytes) {
    return new Fold(Set.of(), part, of, mostBytes);
  }

  private static WalRecord.Part part(String owner, long epoch, long version, String... keys) {
    List<EncodedRow> rows = new ArrayList<>();
    for (String key : keys) {
      byte[] image = "%016xp and columns".formatted(version).getBytes(StandardCharsets.US_ASCII);
      rows.add(new EncodedRow(key, image));
    }
    return new WalRecord.Part(owner, new SessionId(epoch, "aaaaaaaa00000001").text(), rows);
  }

  private WalRecord.Entry commit(WalRecord.Part... parts) {
    return new WalRecord.Entry(++sequence, sequence, new WalRecord.Committed(Arrays.asList(parts)));
  }

  private static List<String> rows(Fold of) {
    return of.owners().stream()
        .flatMap(owner -> owner.rows.values().stream())
        .map(row -> row.key() + "@" + row.version())
        .toList();
  }

  @Test
  void agreesWithAPlainMap() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    Map<String, long[]> plain = new HashMap<>();
    for (int i = 0; i < 300_000; i++) {
      String owner = "player%3A" + random.nextInt(1_000);
      String key = "item:" + random.nextInt(100);
      long version = random.nextInt(50);
      long epoch = 1L + random.nextInt(4);
      fold.add(commit(part(owner, epoch, version, key)), 0, false);
      long[] best = plain.computeIfAbsent(owner + " " + key, k -> new long[] {-1, 0});
      if (version > best[0] || (version == best[0] && epoch > best[1])) {
        best[0] = version;
        best[1] = epoch;
      }
    }
    int rows = 0;
    for (FoldedOwner owner : fold.owners()) {
      for (WalRow row : owner.rows.values()) {
        long[] best = Objects.requireNonNull(plain.get(owner.id.encoded() + " " + row.key()));
        assertEquals(best[0], row.version());
        assertEquals(best[1], row.session().epoch());
        rows++;
      }
    }
    assertEquals(plain.size(), rows);
  }

  @Test
  void rowsOfAFailedCommitAreNotThere() {
    fold.add(commit(part("player%3A1", 1, 7, "item:1")), 0, true);
    assertEquals(List.of(), rows(fold));
  }

  @Test
  void rowsStayInTheOrderOfTheWals() {
    fold.add(commit(part("player%3A0", 1, 1, "a", "b")), 0, false);
    fold.add(commit(part("player%3A0", 1, 2, "a")), 0, false);
    assertEquals(List.of("b@1", "a@2"), rows(fold));
  }

  @Test
  void atItsLimitItSaysSo() {
    Fold two = fold(0, 1, 1_200);
    two.add(commit(part("player%3A0", 1, 1, "a", "b")), 0, false);
    two.add(commit(part("player%3A0", 1, 2, "a")), 0, false);
    assertFalse(two.isFull);
    two.add(commit(part("player%3A0", 1, 1, "c")), 0, false);
    assertTrue(two.isFull);
    assertEquals(List.of(), rows(two));
  }

  @Test
  void eachOwnerIsOfOnePartWithItsInboxes() {
    List<Fold> parts = List.of(fold(0, 2, 1 << 20), fold(1, 2, 1 << 20));
    for (int i = 0; i < 100; i++) {
      for (String owner : List.of("player%3A" + i, "player%3A" + i + "!aaaaaaaa")) {
        WalRecord.Entry entry = commit(part(owner, 1, 1, owner));
        parts.forEach(of -> of.add(entry, 0, false));
      }
    }
    assertEquals(200, rows(parts.get(0)).size() + rows(parts.get(1)).size());
    assertTrue(rows(parts.get(0)).size() > 20 && rows(parts.get(1)).size() > 20);
    parts.forEach(of -> assertEquals(0, rows(of).size() % 2));
  }

  @Test
  void theNewestSessionOfEachOwnerIsKept() {
    for (int i = 0; i < 5_000; i++) {
      String owner = "player%3A" + i;
      for (int epoch : new int[] {7, 9, 8}) {
        String nonce = "%016x".formatted(epoch == 9 ? 0x8000_0000_0000_0000L + i : i);
        String session = new SessionId(epoch, nonce).text();
        fold.add(commit(new WalRecord.Part(owner, session, List.of())), epoch, false);
      }
    }
    for (int i = 0; i < 5_000; i++) {
      assertEquals(
          new SessionId(9, "8%015x".formatted(i)), fold.owner(OwnerId.of("player:" + i)).newest);
    }
    fold.owners().forEach(owner -> assertEquals(9, owner.wal));
  }

  /** Replays all of these owners; which is replayed together with the first. */
  private List<String> togetherWith(String first, Set<String> lost) {
    List<FoldedOwner> owners =
        fold.owners().stream().filter(owner -> lost.contains(owner.id.key())).toList();
    owners.forEach(owner -> owner.toReplay.addAll(owner.rows.values()));
    List<List<FoldedOwner>> groups = Planner.together(owners);
    assertEquals(owners.size(), groups.stream().mapToInt(List::size).sum());
    return groups.stream()
        .map(group -> group.stream().map(owner -> owner.id.key()).sorted().toList())
        .filter(group -> group.contains(first))
        .findFirst()
        .orElseThrow();
  }

  private static String player(String key) {
    return "player%3A" + key;
  }

  private void trade(String a, String b, String row) {
    fold.add(
        commit(part(player(a), 1, sequence, a + row), part(player(b), 1, sequence, b + row)),
        0,
        false);
  }

  @Test
  void whoTradedIsReplayedTogether() {
    trade("1", "2", "x");
    fold.add(commit(part(player("3"), 1, 1, "alone")), 0, false);
    trade("4", "5", "x");
    trade("2", "4", "y");
    Set<String> all = Set.of("1", "2", "3", "4", "5");
    assertEquals(List.of("1", "2", "4", "5"), togetherWith("1", all));
    fold.owners().forEach(owner -> owner.toReplay.clear());
    assertEquals(List.of("3"), togetherWith("3", all));
  }

  @Test
  void whoseHalfIsNotReplayedIsNotWaitedFor() {
    trade("1", "2", "x");
    assertEquals(List.of("1"), togetherWith("1", Set.of("1")));
  }

  @Test
  void ofACommitTheVersionsOfAllRowsAreKept() {
    trade("1", "2", "x");
    List<WalRow> rows =
        fold.owners().stream().flatMap(owner -> owner.rows.values().stream()).toList();
    assertEquals(2, rows.get(0).together().size());
    assertSame(rows.get(0).together(), rows.get(1).together());
    EncodedRow other = rows.get(0).together().get(1).rows().get(0);
    assertEquals("2x", other.key());
    assertEquals(rows.get(0).version(), other.version());
    assertEquals(17, other.image().length);
  }
}
