package io.gameq.wal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.WalException;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.config.WalLimits;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalCodec.Encoder;
import io.gameq.wal.WalCodec.Envelope;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WalWriterTest {
  private static final byte[] IMAGE = "0000000000000000p...".getBytes(StandardCharsets.US_ASCII);

  @TempDir Path parent;

  private WalWriter create() {
    return WalWriter.create(
        new WalWriter.Start(parent, "game", 16, "0db", "node-1", "0badcafe", 1_790_000_000_000L),
        WalLimits.DEFAULT,
        List.of(new WalRecord.Layout("item", 0xFFFFFFFFL, "id int")));
  }

  private static CommitPart part(String owner, String... keys) {
    SessionRef session = new SessionRef(OwnerId.of(owner), new SessionId(3, "0badcafe00000001"), 1);
    List<ChangedRow> rows = new ArrayList<>();
    for (String key : keys) {
      rows.add(new ChangedRow(key, IMAGE.clone()));
    }
    return new CommitPart(session, rows);
  }

  private static Commit commit(CommitPart... parts) {
    return new Commit(List.of(parts)) {
      @Override
      public void queued() {}

      @Override
      public void failed(RuntimeException reason) {}
    };
  }

  private static List<WalRecord.Entry> readBack(Path directory) {
    List<WalRecord.Entry> records = new ArrayList<>();
    WalReader.read(directory, records::add);
    return records;
  }

  @Test
  void holdsHeaderLayoutsCommitsAndFailuresInOrderWithRisingSequences() {
    Commit spanning =
        commit(part("player:1", "item:1,1", "item:1,2"), part("player:2", "item:2,1"));
    spanning.setVersion(0x123456789L);
    Path directory;
    try (WalWriter wal = create()) {
      directory = wal.directory();
      wal.append(spanning);
      wal.appendFailed(spanning);
      wal.appendAdopted(part("player:9", "item:9,1"));
    }
    List<WalRecord.Entry> records = readBack(directory);
    assertEquals(
        List.of(1L, 2L, 3L, 4L, 5L), records.stream().map(WalRecord.Entry::sequence).toList());
    WalRecord.Header header = assertInstanceOf(WalRecord.Header.class, records.get(0).record());
    assertEquals(
        new WalRecord.Header(
            WalCodec.FORMAT,
            directory.getFileName().toString(),
            "game",
            16,
            "node-1",
            1_790_000_000_000L,
            "0db"),
        header);
    assertEquals(new WalRecord.Layout("item", 0xFFFFFFFFL, "id int"), records.get(1).record());
    WalRecord.Committed committed =
        assertInstanceOf(WalRecord.Committed.class, records.get(2).record());
    assertEquals(3, spanning.sequence());
    assertEquals(
        List.of("player%3A1", "player%3A2"),
        committed.parts().stream().map(WalRecord.Part::owner).toList());
    assertEquals(
        List.of("item:1,1", "item:1,2"),
        committed.parts().get(0).rows().stream().map(EncodedRow::key).toList());
    assertArrayEquals(
        "0000000123456789p...".getBytes(StandardCharsets.US_ASCII),
        committed.parts().get(0).rows().get(0).image());
    assertEquals(new WalRecord.Failed(3), records.get(3).record());
    assertInstanceOf(WalRecord.Adopted.class, records.get(4).record());
  }

  @Test
  void theChecksumFindsAFlippedBit() {
    Encoder body = new Encoder();
    body.failed(7);
    body.seal(5, 1);
    byte[] record = java.util.Arrays.copyOf(body.bytes(), body.length());

    assertTrue(Envelope.isIntact(record, 0, record.length));
    assertEquals(
        new WalRecord.Entry(9, 9, new WalRecord.Failed(7)),
        WalCodec.decode(record, Envelope.BYTES, record.length, 9));
    for (int bit = 0; bit < record.length * 8; bit++) {
      byte[] damaged = record.clone();
      damaged[bit / 8] ^= (byte) (1 << (bit % 8));
      assertFalse(
          Envelope.beginsAt(damaged, 0)
              && Envelope.length(damaged, 0) == record.length
              && Envelope.isIntact(damaged, 0, record.length),
          "bit " + bit);
    }
  }

  @Test
  void aDirectoryThatCannotBeMadeIsNamed() throws IOException {
    Path file = Files.writeString(parent.resolve("file"), "not a directory");
    WalException e =
        assertThrows(
            WalException.class,
            () ->
                WalWriter.create(
                    new WalWriter.Start(file, "g", 1, "0db", "n", "0badcafe", 0),
                    WalLimits.DEFAULT,
                    List.of()));
    assertTrue(String.valueOf(e.getMessage()).contains(file.toString()));
  }
}
