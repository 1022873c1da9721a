package io.gameq.recovery.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.owner.SessionId;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RowIndexTest {
  private final RowHash hash = new RowHash();

  @Test
  void agreesWithAPlainMap() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    RowIndex index = new RowIndex(Long.MAX_VALUE);
    Map<String, long[]> plain = new HashMap<>();
    for (int i = 0; i < 300_000; i++) {
      String owner = "player%3A" + random.nextInt(1_000);
      String key = "item:" + random.nextInt(100);
      long version = random.nextInt(50);
      long epoch = 1L + random.nextInt(4);
      index.note(hash.owner(owner).row(key), version, epoch);
      long[] best = plain.computeIfAbsent(owner + " " + key, k -> new long[] {-1, 0});
      if (version > best[0] || (version == best[0] && epoch > best[1])) {
        best[0] = version;
        best[1] = epoch;
      }
    }
    assertEquals(plain.size(), index.size());
    plain.forEach(
        (name, best) -> {
          String[] words = name.split(" ", 2);
          RowHash row = hash.owner(words[0]).row(words[1]);
          assertNotNull(index.find(row, best[0], best[1]), name);
          assertNull(index.find(row, best[0] - 1, best[1]), name);
          assertNull(index.find(row, best[0], best[1] + 1), name);
        });
  }

  @Test
  void statesStayWithTheirRows() {
    RowIndex index = new RowIndex(Long.MAX_VALUE);
    for (int i = 0; i < 50_000; i++) {
      index.note(hash.owner("o" + i).row("item:1"), i, 1);
    }
    for (int i = 0; i < 50_000; i += 3) {
      Objects.requireNonNull(index.find(hash.owner("o" + i).row("item:1"), i, 1)).state =
          RowIndex.State.TO_REPLAY;
    }
    for (int i = 0; i < 50_000; i++) {
      assertEquals(
          i % 3 == 0 ? RowIndex.State.TO_REPLAY : RowIndex.State.UNSEEN,
          Objects.requireNonNull(index.find(hash.owner("o" + i).row("item:1"), i, 1)).state);
    }
  }

  @Test
  void atItsLimitItSaysSo() {
    RowIndex index = new RowIndex(2);
    index.note(hash.owner("o").row("a"), 1, 1);
    index.note(hash.owner("o").row("b"), 1, 1);
    index.note(hash.owner("o").row("a"), 2, 1);
    assertFalse(index.isFull());
    index.note(hash.owner("o").row("c"), 1, 1);
    assertTrue(index.isFull());
    assertEquals(2, index.size());
  }

  @Test
  void theNewestSessionOfEachOwnerIsKept() {
    OwnerIndex index = new OwnerIndex();
    for (int i = 0; i < 5_000; i++) {
      index.note(hash.owner("o" + i), 7, i, 0);
      index.note(hash.owner("o" + i), 9, 0x8000_0000_0000_0000L + i, 1);
      index.note(hash.owner("o" + i), 8, i, 2);
    }
    for (int i = 0; i < 5_000; i++) {
      assertEquals(
          new OwnerIndex.Newest(new SessionId(9, "8%015x".formatted(i)), 1),
          Objects.requireNonNull(index.find(hash.owner("o" + i))));
    }
  }
}
