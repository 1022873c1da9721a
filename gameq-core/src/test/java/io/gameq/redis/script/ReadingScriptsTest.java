package io.gameq.redis.script;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.gameq.RedisUnavailableException;
import io.gameq.lab.servers.EmbeddedRedis;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReadingScriptsTest {
  /** A replica may be behind: what it does not hold is not lost. */
  @Test
  void aPrimaryThatWasDemotedIsNotBelieved() {
    OwnerId owner = OwnerId.of("player:1");
    SlotKeys slot = new SlotKeys("game", 0);
    SessionId session = new SessionId(1, "0123456789abcdef");
    try (EmbeddedRedis server = EmbeddedRedis.start();
        RedisConnector connector = new RedisConnector(new RedisConfig(server.uri()));
        ControlConnection control = new ControlConnection(connector)) {
      assertEquals(List.of(), control.call(redis -> LookupScript.unflushed(redis, slot, owner)));
      control.get().sync().replicaof("127.0.0.1", 1);
      assertThrows(
          RedisUnavailableException.class,
          () -> LookupScript.unflushed(control.get(), slot, owner));
      assertThrows(
          RedisUnavailableException.class,
          () -> LookupScript.holdsNothing(control.get(), slot, owner, session));
    }
  }
}
