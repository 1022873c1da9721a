package io.gameq.lab.contender.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.RedisCommand;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Keeps the commands that gameq's sender hands to its connection, and sends nothing. One thread.
 */
final class SentCommands {
  private final List<RedisCommand<byte[], byte[], ?>> commands = new ArrayList<>();

  /** A connection that takes commands, and does nothing else. */
  @SuppressWarnings("unchecked") // of the commands that CommitGroup dispatches
  StatefulRedisConnection<byte[], byte[]> connection() {
    return (StatefulRedisConnection<byte[], byte[]>)
        Proxy.newProxyInstance(
            SentCommands.class.getClassLoader(),
            new Class<?>[] {StatefulRedisConnection.class},
            (self, method, arguments) -> {
              if (method.getName().equals("dispatch")
                  && arguments[0] instanceof Collection<?> sent) {
                sent.forEach(of -> commands.add((RedisCommand<byte[], byte[], ?>) of));
                return sent;
              }
              throw new UnsupportedOperationException(method.getName());
            });
  }

  List<RedisCommand<byte[], byte[], ?>> commands() {
    return commands;
  }
}
