package io.gameq.owner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import java.util.List;
import org.junit.jupiter.api.Test;

class OwnerIdTest {
  @Test
  void noCharacterOfAnIdReachesAnotherKey() {
    for (String key :
        List.of("a:b", "{1}", "}", "a\0b", "a\r\nb", "a b", "%3A", "\uD83D\uDC09", "a,b")) {
      OwnerId id = OwnerId.of("region:" + key);
      assertTrue(id.encoded().matches("region%3A[A-Za-z0-9._~%-]+"), id::encoded);
      assertEquals(id, OwnerId.ofEncoded(id.encoded()));
      assertEquals("region:" + key, OwnerId.ofEncoded(id.encoded()).id());
    }
    assertNotEquals(OwnerId.of("region:a:b").encoded(), OwnerId.of("region:a%3Ab").encoded());
  }

  @Test
  void idsThatAreNoIdsAreRefused() {
    for (String id :
        List.of(
            "",
            "42",
            ":42",
            "player:",
            "Player:42",
            "player:" + "x".repeat(10_000),
            "player:\uD83D")) {
      assertThrows(GameQueueException.class, () -> OwnerId.of(id), id);
    }
  }

  @Test
  void slotsSpreadOwnersAndStayTheSame() {
    int[] perSlot = new int[16];
    for (int i = 0; i < 16_000; i++) {
      perSlot[OwnerId.of("player:" + i).slot(16)]++;
    }
    for (int owners : perSlot) {
      assertTrue(owners > 700 && owners < 1_300, "a slot with " + owners + " of 16,000 owners");
    }
  }

  @Test
  void namesAMalformedIdWithoutItsControlCharactersAndNoLongerThanALine() {
    String message =
        String.valueOf(
            assertThrows(
                    GameQueueException.class, () -> OwnerId.of("Pl\n\u001b:" + "x".repeat(300)))
                .getMessage());
    assertTrue(message.startsWith("owner id 'Pl??:" + "x".repeat(55) + "...' is not"), message);
  }
}
