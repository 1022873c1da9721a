package io.gameq.redis;

import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * How long a reply may take. What gameq sends in a MULTI only is left to the EXEC behind it: a
 * timer for each command costs more than to send it. Immutable.
 */
final class ReplyTimeout extends TimeoutOptions.TimeoutSource {
  private static final Set<CommandType> IN_MULTI =
      EnumSet.of(CommandType.MULTI, CommandType.MGET, CommandType.HSET, CommandType.ZADD);

  private static final long NONE = -1;

  private final long millis;

  ReplyTimeout(long millis) {
    this.millis = millis;
  }

  @Override
  public long getTimeout(RedisCommand<?, ?, ?> command) {
    return command.getType() instanceof CommandType type && IN_MULTI.contains(type) ? NONE : millis;
  }

  @Override
  public TimeUnit getTimeUnit() {
    return TimeUnit.MILLISECONDS;
  }
}
