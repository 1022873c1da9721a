package io.gameq.mysql;

import com.mysql.cj.conf.PropertyKey;
import io.gameq.GameQueueException;
import io.gameq.Password;
import io.gameq.Tls;
import org.jspecify.annotations.Nullable;

/**
 * Where MySQL is and how to log in; immutable.
 *
 * @param url {@code jdbc:mysql://host:port/database}, for MariaDB as well
 * @param password never shown
 * @param poolSize most connections at a time
 * @param tls whom to trust, and that TLS is used at all; null: what the URL says of TLS
 */
public record MySqlConfig(
    String url, String user, Password password, int poolSize, @Nullable Tls tls) {
  /** More would only queue inside the server. */
  private static final int MAX_POOL_SIZE = 200;

  public MySqlConfig {
    var unused = MySqlUrl.parse(url);
    if (poolSize < 1 || poolSize > MAX_POOL_SIZE) {
      throw new GameQueueException(
          "mysql.poolSize is %s: use 1 to %s".formatted(poolSize, MAX_POOL_SIZE));
    }
  }

  /** With a password that does not change, and TLS as the URL says. */
  public MySqlConfig(String url, String user, String password, int poolSize) {
    this(url, user, Password.of(password), poolSize, null);
  }

  /** The same with another number of connections. */
  public MySqlConfig withPoolSize(int connections) {
    return new MySqlConfig(url, user, password, connections, tls);
  }

  /** {@code host:port}, without what a URL may carry besides; for messages. */
  public String address() {
    return MySqlUrl.parse(url).address();
  }

  /** The database's name, empty when the URL names none. */
  public String database() {
    return MySqlUrl.parse(url).database();
  }

  /** Whether the URL sets this driver property itself. */
  boolean sets(PropertyKey property) {
    return MySqlUrl.parse(url).options().containsKey(property.getKeyName());
  }

  @Override
  public String toString() {
    return "MySqlConfig[%s/%s, user=%s, poolSize=%s]"
        .formatted(address(), database(), user, poolSize);
  }
}
