package io.gameq.durability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class QueuedRowTest {
  @Test
  void ofARowThatIsTradedOverAndOverTheLastTradesAreKept() {
    QueuedRow row = new QueuedRow(0, 0, 100, false, true);
    for (int version = 1; version <= 1_000; version++) {
      row = new QueuedRow(version, version, 100, false, true).after(row);
      int before = 0;
      for (QueuedRow old = row.before(); old != null; old = old.before()) {
        before++;
        assertEquals(version - before, old.version());
      }
      assertTrue(before >= 1 && before <= 16, before + " before version " + version);
    }
  }
}
