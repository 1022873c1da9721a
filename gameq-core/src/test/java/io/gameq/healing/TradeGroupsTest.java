package io.gameq.healing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.gameq.healing.OwnerGroup.TradeGroups;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow;
import java.util.List;
import org.junit.jupiter.api.Test;

class TradeGroupsTest {
  private final TradeGroups groups = new TradeGroups();

  private static WalRow row(String owner, long sequence) {
    return new WalRow(
        OwnerId.of("player:" + owner),
        new SessionId(1, "aaaaaaaa00000001"),
        new EncodedRow("item:" + owner, new byte[0]),
        sequence,
        0,
        sequence);
  }

  private String root(String owner) {
    return groups.root(OwnerId.of("player:" + owner).encoded());
  }

  @Test
  void whoTradedIsReplayedTogether() {
    groups.join(
        List.of(row("1", 7), row("2", 7), row("3", 8), row("4", 9), row("5", 9)), row -> true);
    groups.join(List.of(row("2", 10), row("4", 10)), row -> true);
    assertEquals(root("1"), root("2"));
    assertEquals(root("1"), root("4"));
    assertEquals(root("1"), root("5"));
    assertNotEquals(root("1"), root("3"));
    assertEquals(
        groups.bucket(OwnerId.of("player:1").encoded()),
        groups.bucket(OwnerId.of("player:5").encoded()));
  }

  @Test
  void whoseHalfIsNotReplayedIsNotWaitedFor() {
    groups.join(
        List.of(row("1", 7), row("2", 7)), row -> row.owner().equals(OwnerId.of("player:1")));
    assertNotEquals(root("1"), root("2"));
  }
}
