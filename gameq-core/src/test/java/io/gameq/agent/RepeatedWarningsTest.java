package io.gameq.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RepeatedWarningsTest {
  private final List<String> lines = new ArrayList<>();
  private long now = -1;
  private final RepeatedWarnings complaints = new RepeatedWarnings(10, () -> now);

  private void about(String cause, String text) {
    complaints.about(cause, lines::add, () -> text);
  }

  @Test
  void oneLineForEachCauseAndIntervalTellsHowManyThereWere() {
    for (int owner = 1; owner <= 1_500; owner++) {
      about("locked", "owner " + owner + " is locked");
    }
    about("stale", "owner 7 is stale");
    now += TimeUnit.SECONDS.toNanos(10);
    about("locked", "owner 1501 is locked");
    now += TimeUnit.SECONDS.toNanos(10);
    about("locked", "owner 1502 is locked");
    assertEquals(
        List.of(
            "owner 1 is locked",
            "owner 7 is stale",
            "owner 1501 is locked (and 1,499 like it since the last line)",
            "owner 1502 is locked"),
        lines);
  }
}
