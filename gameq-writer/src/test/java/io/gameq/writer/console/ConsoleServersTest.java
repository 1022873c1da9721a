package io.gameq.writer.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.Waits;
import io.gameq.writer.ConfigFile;
import io.gameq.writer.admin.DeadRows.Filter;
import io.gameq.writer.config.ConfigReader;
import io.gameq.writer.mysql.DeadLetters.DeadLetterFilter;
import io.javalin.http.ServiceUnavailableResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConsoleServersTest {
  @Test
  void listsThatAreSlowHoldUpNoAction(@TempDir Path directory) throws Exception {
    GameDatabase database = GameDatabase.create("places");
    ConfigFile file = ConfigFile.write(directory, database.server(), "places", 4);
    try (ConsoleServers servers = new ConsoleServers(ConfigReader.read(file.file()))) {
      CountDownLatch slow = new CountDownLatch(1);
      CountDownLatch begun = new CountDownLatch(2);
      List<CompletableFuture<?>> lists = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        lists.add(
            CompletableFuture.runAsync(
                () ->
                    servers.list(
                        () -> {
                          begun.countDown();
                          return await(slow);
                        })));
      }
      assertTrue(begun.await(Waits.LONG.toSeconds(), TimeUnit.SECONDS));
      Filter all = new Filter(DeadLetterFilter.ALL, null);
      long count =
          servers.letters(new Actor("tester", "test"), letters -> letters.choose(all).count());
      assertEquals(0, count);
      assertEquals(
          "others are at the lists: try again",
          assertThrows(ServiceUnavailableResponse.class, () -> servers.list(() -> ""))
              .getMessage());
      slow.countDown();
      CompletableFuture.allOf(lists.toArray(CompletableFuture[]::new)).join();
      assertEquals("", servers.list(() -> ""));
    }
  }

  private static boolean await(CountDownLatch latch) {
    try {
      return latch.await(Waits.LONG.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
