package io.gameq.spring;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * MySQL, and the login.
 *
 * @param url Such as jdbc:mysql://host:3306/game. Required.
 * @param user User. Required.
 * @param password Password.
 * @param passwordFile File with the password, read again for each connection.
 * @param caFile PEM file of the CAs that are trusted; then it is TLS alone.
 * @param poolSize Connections, which opens and reads use.
 */
public record MySql(
    @Nullable String url,
    @Nullable String user,
    @Nullable String password,
    @Nullable Path passwordFile,
    @Nullable Path caFile,
    @DefaultValue("8") int poolSize) {
  /** Shows no secret. */
  @Override
  public String toString() {
    return "MySql[user=" + user + "]";
  }
}
