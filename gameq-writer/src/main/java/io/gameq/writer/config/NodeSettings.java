package io.gameq.writer.config;

import io.gameq.Password;
import io.gameq.redis.RedisLogin;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The game node within a writer's process, which messages over HTTP and plug-ins need; immutable.
 *
 * @param name of the node: the same after a restart, since it finds its WALs by it
 * @param redis its login, a node's and not the writer's
 * @param plugins a directory with jars; null for none
 */
public record NodeSettings(
    String name, Path walDirectory, RedisLogin redis, MySqlLogin mysql, @Nullable Path plugins) {
  /** A login to MySQL; immutable. */
  public record MySqlLogin(String user, Password password) {}
}
