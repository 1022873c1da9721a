package io.gameq.mysql;

import io.gameq.GameQueueException;
import io.gameq.Password;
import io.gameq.Tls;
import java.util.Locale;
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
  private static final String PREFIX = "jdbc:mysql://";

  /** More would only queue inside the server. */
  private static final int MAX_POOL_SIZE = 200;

  public MySqlConfig {
    if (!url.startsWith(PREFIX)) {
      throw new GameQueueException(
          ("mysql.url must begin with %s and give one server, the primary (MariaDB too:"
                  + " the driver is MySQL's)")
              .formatted(PREFIX));
    }
    if (url.matches("(?i)[^?]*//[^/]*:[^/]*@.*|.*[?&(,]password\\d*=.*")) {
      // The driver shows its URL in errors.
      throw new GameQueueException(
          "mysql.url carries a login: use mysql.user and mysql.password or mysql.passwordFile");
    }
    if (poolSize < 1 || poolSize > MAX_POOL_SIZE) {
      throw new GameQueueException(
          "mysql.poolSize is %d: use 1 to %d".formatted(poolSize, MAX_POOL_SIZE));
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
    String rest = url.substring(PREFIX.length()).split("[/?]", 2)[0];
    String hosts = rest.substring(rest.lastIndexOf('@') + 1);
    return hosts.contains(":") ? hosts : hosts + ":3306";
  }

  /** The database's name, empty when the URL names none. */
  public String database() {
    String rest = url.substring(PREFIX.length()).split("\\?", 2)[0];
    int slash = rest.indexOf('/');
    return slash < 0 ? "" : rest.substring(slash + 1);
  }

  /** Whether the URL sets this driver property itself. */
  boolean sets(String property) {
    int question = url.indexOf('?');
    return question >= 0
        && ("&" + url.substring(question + 1).toLowerCase(Locale.ROOT))
            .contains("&" + property.toLowerCase(Locale.ROOT) + "=");
  }

  @Override
  public String toString() {
    return "MySqlConfig[%s/%s, user=%s, poolSize=%d]"
        .formatted(address(), database(), user, poolSize);
  }
}
