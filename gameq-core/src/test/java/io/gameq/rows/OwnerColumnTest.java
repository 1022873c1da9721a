package io.gameq.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.owner.OwnerId;
import java.util.List;
import org.junit.jupiter.api.Test;

class OwnerColumnTest {
  private static final Table PETS =
      TableBuilder.table("pet").column("id", "bigint").column("player_id", "bigint").build();

  private static final List<Long> NUMBERS =
      List.of(0L, 1L, 7L, 42L, 100L, 420L, 1_042L, Long.MAX_VALUE, -1L, -42L, Long.MIN_VALUE);

  private static final List<String> KEYS =
      List.of("0", "00", "042", "-0", "+42", "42 ", "4", "2", "042", "٤٢", "-", "x42", "42x");

  private static void check(String key, long number) {
    OwnerId owner = OwnerId.of("player:" + key);
    assertEquals(
        key.equals(Long.toString(number)),
        PETS.isOwnedBy(owner, new Object[] {1L, number}),
        () -> key + " and " + number);
  }

  @Test
  void aNumberNamesTheOwnerWhoseKeyIsWrittenAsItIs() {
    for (long number : NUMBERS) {
      KEYS.forEach(key -> check(key, number));
      NUMBERS.forEach(other -> check(Long.toString(other), number));
      check("1" + number, number);
    }
  }
}
