package io.gameq.test;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/** The contract in memory: nothing is waited for. */
class MemoryContractTest extends GameContract {
  private final MemoryServers servers = MemoryServers.of(schema());
  private final GameQueue queue = servers.open("one");
  private final GameQueue other = servers.open("other");

  static TestSchema schema() {
    return TestSchema.of(resource("contract.sql"))
        .table("player", "player", "id")
        .table("item", "player", "owner_id")
        .table("worn", "player", "owner_id");
  }

  static String resource(String name) {
    try (InputStream in = GameContract.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  GameQueue queue() {
    return queue;
  }

  @Override
  GameQueue other() {
    return other;
  }

  @Override
  void until(Duration about, BooleanSupplier isSo) {
    servers.clock().advance(about);
    assertTrue(isSo.getAsBoolean());
  }
}
