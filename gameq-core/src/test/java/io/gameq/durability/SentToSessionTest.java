package io.gameq.durability;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.durability.DurableTracker.SentToSession;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SentToSessionTest {
  private static List<EncodedRow> rows(int from, int to) {
    return IntStream.range(from, to)
        .mapToObj(i -> new EncodedRow("item:" + i, new byte[0]))
        .toList();
  }

  private static List<String> keys(List<EncodedRow> rows) {
    return rows.stream().map(EncodedRow::key).toList();
  }

  @Test
  void whoTakesThemGetsAllHoweverManyComeAtOnce() {
    List<EncodedRow> taken = new ArrayList<>();
    SentToSession sent = new SentToSession();
    sent.takenBy(taken::addAll);
    sent.came(rows(0, 2 * SentToSession.MOST_WAITING));
    assertEquals(keys(rows(0, 2 * SentToSession.MOST_WAITING)), keys(taken));
  }

  @Test
  void untilThenTheNewestWait() {
    List<EncodedRow> taken = new ArrayList<>();
    SentToSession sent = new SentToSession();
    sent.came(rows(0, 2 * SentToSession.MOST_WAITING));
    sent.takenBy(taken::addAll);
    assertEquals(
        keys(rows(SentToSession.MOST_WAITING, 2 * SentToSession.MOST_WAITING)), keys(taken));
  }
}
