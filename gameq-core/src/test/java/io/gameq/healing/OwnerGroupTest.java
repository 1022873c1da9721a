package io.gameq.healing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.healing.OwnerGroup.OwnersNewest;
import io.gameq.healing.OwnerGroup.RowHash;
import io.gameq.healing.OwnerGroup.State;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalRecord;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class OwnerGroupTest {
  private final OwnerGroup group = group(Long.MAX_VALUE);

  private static OwnerGroup group(long mostRows) {
    return new OwnerGroup(new RowHash(), 0, 1, mostRows);
  }

  private static WalRecord.Part part(String owner, long epoch, long version, String... keys) {
    List<EncodedRow> rows = new ArrayList<>();
    for (String key : keys) {
      byte[] image = "%016xp".formatted(version).getBytes(StandardCharsets.US_ASCII);
      rows.add(new EncodedRow(key, image));
    }
    return new WalRecord.Part(owner, new SessionId(epoch, "aaaaaaaa00000001").text(), rows);
  }

  private static List<String> taken(OwnerGroup from, WalRecord.Part part, State in) {
    List<String> keys = new ArrayList<>();
    from.takeNewest(part, in, (row, version) -> keys.add(row.key()));
    return keys;
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
      group.note(0, part(owner, epoch, version, key), false);
      long[] best = plain.computeIfAbsent(owner + " " + key, k -> new long[] {-1, 0});
      if (version > best[0] || (version == best[0] && epoch > best[1])) {
        best[0] = version;
        best[1] = epoch;
      }
    }
    assertEquals(plain.size(), group.size());
    plain.forEach(
        (name, best) -> {
          String owner = name.split(" ", 2)[0];
          String key = name.split(" ", 2)[1];
          assertEquals(
              List.of(), taken(group, part(owner, best[1], best[0] - 1, key), State.UNSEEN), name);
          assertEquals(
              List.of(), taken(group, part(owner, best[1] + 1, best[0], key), State.UNSEEN), name);
          assertEquals(
              List.of(key), taken(group, part(owner, best[1], best[0], key), State.UNSEEN), name);
        });
  }

  @Test
  void handsARowOverOnceAndThenOnlyToReplayIt() {
    WalRecord.Part part = part("player%3A1", 1, 7, "item:1", "item:2");
    group.note(0, part, false);
    assertEquals(List.of("item:1", "item:2"), taken(group, part, State.UNSEEN));
    assertEquals(List.of(), taken(group, part, State.UNSEEN));
    WalRow row =
        new WalRow(
            OwnerId.ofEncoded("player%3A1"),
            SessionId.parse(part.session()),
            part.rows().get(1),
            7,
            0,
            1);
    assertFalse(group.isToReplay(row));
    group.setToReplay(row);
    assertTrue(group.isToReplay(row));
    assertEquals(List.of("item:2"), taken(group, part, State.TO_REPLAY));
    assertEquals(List.of(), taken(group, part, State.TO_REPLAY));
  }

  @Test
  void rowsOfAFailedCommitAreNotThere() {
    WalRecord.Part part = part("player%3A1", 1, 7, "item:1");
    group.note(0, part, true);
    assertEquals(0, group.size());
    assertEquals(List.of(), taken(group, part, State.UNSEEN));
  }

  @Test
  void atItsLimitItSaysSo() {
    OwnerGroup two = group(2);
    two.note(0, part("o", 1, 1, "a", "b"), false);
    two.note(0, part("o", 1, 2, "a"), false);
    assertFalse(two.isFull());
    two.note(0, part("o", 1, 1, "c"), false);
    assertTrue(two.isFull());
    assertEquals(2, two.size());
  }

  @Test
  void theNewestSessionOfEachOwnerIsKept() {
    for (int i = 0; i < 5_000; i++) {
      String owner = "player%3A" + i;
      for (int epoch : new int[] {7, 9, 8}) {
        String nonce = "%016x".formatted(epoch == 9 ? 0x8000_0000_0000_0000L + i : i);
        group.note(
            epoch, new WalRecord.Part(owner, new SessionId(epoch, nonce).text(), List.of()), false);
      }
    }
    for (int i = 0; i < 5_000; i++) {
      assertEquals(
          new OwnersNewest(new SessionId(9, "8%015x".formatted(i)), 9),
          group.newestSession(OwnerId.of("player:" + i)));
    }
  }
}
