package io.gameq.redis;

import io.gameq.Password;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider.ImmediateRedisCredentialsProvider;
import org.jspecify.annotations.Nullable;

/**
 * The login of the next connection. Thread-safe. Whoever is about to connect reads it again: on the
 * thread that waits anyway, since a file or a vault may be slow, and the client asks on the thread
 * of all connections.
 *
 * <p>The client must have it at once: for a login that may come later it goes on in another thread,
 * and says that a connection is there before commands can be sent on it.
 */
final class FreshCredentials implements ImmediateRedisCredentialsProvider {
  private final @Nullable String user;
  private final Password password;
  private volatile RedisCredentials latest;

  /** Reads nothing yet. */
  FreshCredentials(@Nullable String user, Password password) {
    this.user = user;
    this.password = password;
    this.latest = RedisCredentials.just(user, new char[0]);
  }

  /**
   * Reads the password.
   *
   * @throws io.gameq.GameQueueException when it cannot be read, naming where it should come from
   */
  void read() {
    latest = RedisCredentials.just(user, password.read().toCharArray());
  }

  @Override
  public RedisCredentials resolveCredentialsNow() {
    return latest;
  }
}
