package io.gameq.writer.status;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.sign.ProcessIdentity;
import io.gameq.sign.Protocol.ProtocolRange;
import io.gameq.writer.status.ProcessWatch.RowTotals;
import io.gameq.writer.status.Processes.WriterStatus;
import io.gameq.writer.status.WriterSigns.WriterSign;
import java.util.List;
import org.junit.jupiter.api.Test;

class FleetWorkTest {
  private final RowTotals work = new RowTotals();

  private static WriterStatus writer(String id, long flushes, long rows) {
    return new WriterStatus(
        id,
        0,
        0,
        false,
        new WriterSign(
            new ProcessIdentity(id, "host", 1, "1", new ProtocolRange(1, 1), 0),
            WriterSign.RUNNING,
            1,
            false,
            "",
            new WriterSign.WorkCounters(1, 0, flushes, rows, 0, 0, 0, "")));
  }

  private long rows(WriterStatus... writers) {
    return work.after(new Processes(List.of(), List.of(writers), 0)).rows();
  }

  @Test
  void whatWritersDidSinceTheFirstLookIsAddedUp() {
    assertEquals(0, rows(writer("a", 10, 1_000), writer("b", 1, 500)));
    assertEquals(30, rows(writer("a", 11, 1_010), writer("b", 2, 520)));
  }

  @Test
  void aWriterThatEndsOrStartsTakesNothingAway() {
    assertEquals(0, rows(writer("a", 10, 1_000), writer("b", 1, 500)));
    assertEquals(5, rows(writer("a", 11, 1_005)), "b ended");
    assertEquals(12, rows(writer("a", 11, 1_005), writer("c", 1, 7)), "c started since");
  }
}
