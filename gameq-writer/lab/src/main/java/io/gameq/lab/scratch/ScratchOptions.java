package io.gameq.lab.scratch;

import io.gameq.config.Tls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that name servers to use instead of embedded ones; a picocli mixin. */
public final class ScratchOptions {
  private static final String PASSWORD_VARIABLE = "GAMEQ_MYSQL_PASSWORD";

  @Option(names = "--redis", paramLabel = "URI", description = "A Redis to use: redis://host:port.")
  private @Nullable String redis;

  @Option(
      names = "--mysql",
      paramLabel = "URL",
      description =
          "A MySQL or MariaDB to use: jdbc:mysql://host:port/database, an empty database.")
  private @Nullable String mysql;

  @Option(
      names = "--mysql-user",
      paramLabel = "USER",
      defaultValue = "root",
      description = "Its user (default root).")
  private String mysqlUser = "root";

  @Option(
      names = "--mysql-password-file",
      paramLabel = "FILE",
      description = "Holds the password; else it is taken from " + PASSWORD_VARIABLE + ".")
  private @Nullable Path mysqlPasswordFile;

  /**
   * Servers as given, or started.
   *
   * @throws IOException when the password file cannot be read
   */
  public ScratchServers start() throws IOException {
    return start(null, null);
  }

  /** The same; over TLS the CAs to trust, null for those of the JVM. */
  public ScratchServers start(@Nullable Path redisCa, @Nullable Path mysqlCa) throws IOException {
    return new ScratchServers(
        new ScratchServers.Given(redis, tls(redisCa), mysql, mysqlUser, password(), tls(mysqlCa)));
  }

  private static @Nullable Tls tls(@Nullable Path ca) {
    return ca == null ? null : Tls.verifiedBy(ca);
  }

  private String password() throws IOException {
    if (mysqlPasswordFile != null) {
      return Files.readString(mysqlPasswordFile).strip();
    }
    return Objects.requireNonNullElse(System.getenv(PASSWORD_VARIABLE), "");
  }
}
