package io.gameq.wal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.config.WalLimits;
import io.gameq.config.WalSync;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.wal.WalWriter.WalNeeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commits with messages in the WAL. */
class WalMessagesTest {
  private static final long VERSION = 0x0190_1234_5678_0009L;

  @TempDir Path parent;

  private static Commit commit(List<CommitPart> parts, MessageChange... changes) {
    return new Commit(parts, List.of(changes), null) {
      @Override
      public void queued() {}

      @Override
      public void failed(RuntimeException reason) {}
    };
  }

  private static MessageId id(String group, String key) {
    return MessageId.of("building", group, key);
  }

  private static MessageChange.Publish publish(String key) {
    return new MessageChange.Publish(
        id("city:7", key),
        3,
        1_790_000_000_123L,
        true,
        60_000,
        MessageValue.encode(99, -5, "every 5m", "payload".getBytes(UTF_8)));
  }

  @Test
  void everyKindOfChangeIsReadBackWithTheCommitsVersionAndItsRows() {
    List<CommitPart> rows = WalSpecimen.commit(new byte[4], 2).parts();
    MessageChange.Publish publish = publish("tower: {1}");
    Commit commit =
        commit(
            rows,
            publish,
            new MessageChange.Retime(id("city:7", "wall"), 3, -1),
            new MessageChange.Delete(id("city:7", "gate"), 3),
            new MessageChange.Ack(id("city:9", "mill"), 5, VERSION - 4, "token.7", 12),
            new MessageChange.Ack(id("city:9", "bell"), 5, VERSION - 5, "token.8", 13, 14, null),
            new MessageChange.Expect(id("city:9", "well"), 5, 3));
    commit.setVersion(VERSION);
    List<WalRecord.Entry> read = new ArrayList<>();
    try (WalWriter wal = WalSpecimen.writer(parent, "0badcafe", WalLimits.DEFAULT)) {
      wal.append(commit);
      WalReader.read(wal.directory(), read::add);
    }
    WalRecord.Committed back = (WalRecord.Committed) read.get(read.size() - 1).record();
    assertEquals(VERSION, back.version());
    assertEquals(2, back.parts().get(0).rows().size());
    MessageChange.Publish published = (MessageChange.Publish) back.messages().get(0);
    assertEquals(3, published.slot());
    assertEquals(publish.id(), published.id());
    assertEquals(publish.dueMillis(), published.dueMillis());
    assertEquals(publish.capMillis(), published.capMillis());
    assertTrue(published.keepsTime());
    assertArrayEquals(publish.value(), published.value());
    assertEquals(VERSION, MessageValue.version(published.value()));
    assertEquals(
        List.of(
            new MessageChange.Retime(id("city:7", "wall"), 3, -1),
            new MessageChange.Delete(id("city:7", "gate"), 3),
            new MessageChange.Ack(id("city:9", "mill"), 5, VERSION - 4, "token.7", 12),
            new MessageChange.Ack(id("city:9", "bell"), 5, VERSION - 5, "token.8", 13, 14, null)),
        back.messages().subList(1, 5));
  }

  @Test
  void filesWithMessagesThatRedisMayLoseStayThoughTheirRowsAreInMySql() throws IOException {
    WalLimits limits =
        new WalLimits(Duration.ZERO, 1L << 30, 0, WalSync.OFF, 64 << 10, Duration.ofMinutes(10));
    try (WalWriter wal = WalSpecimen.writer(parent, "0badcafe", limits)) {
      List<Commit> commits = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        Commit commit = commit(List.of(), publish("tower " + i));
        wal.append(commit);
        commits.add(commit);
      }
      int all = files(wal.directory());
      assertTrue(all > 3, all + " files");
      long end = wal.newestFileFrom();
      wal.retain(new WalNeeds(end, new long[0], commits.get(0).sequence()));
      assertEquals(all, files(wal.directory()));
      wal.retain(new WalNeeds(end, new long[0], commits.get(50).sequence()));
      int half = files(wal.directory());
      assertTrue(half < all && half > 1, half + " of " + all + " files");
      wal.retain(new WalNeeds(end, new long[0], Long.MAX_VALUE));
      assertEquals(1, files(wal.directory()));
    }
  }

  private static int files(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return (int) files.filter(file -> file.toString().endsWith(".cq4")).count();
    }
  }
}
