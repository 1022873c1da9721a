package io.gameq.writer.schema;

import io.gameq.Password;
import io.gameq.mysql.MySqlConfig;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Who a schema command logs in as; mix it in. */
final class MySqlLogin {
  static final String PASSWORD_VARIABLE = "GAMEQ_MYSQL_PASSWORD";

  @Option(
      names = "--mysql-user",
      paramLabel = "USER",
      description = "User of the database (default: the configuration's, of init root).")
  @Nullable String user;

  @Option(
      names = "--mysql-password-file",
      paramLabel = "FILE",
      description =
          "Holds the password of --mysql-user; else it is taken from " + PASSWORD_VARIABLE + ".")
  @Nullable Path passwordFile;

  Password password() {
    Path of = passwordFile;
    String secret = System.getenv(PASSWORD_VARIABLE);
    return of == null ? Password.of(secret == null ? "" : secret) : Password.ofFile(of);
  }

  /** The configuration's, with another login where one was given. */
  MySqlConfig of(MySqlConfig configured) {
    return user == null
        ? configured
        : new MySqlConfig(
            configured.url(), user, password(), configured.poolSize(), configured.tls());
  }
}
