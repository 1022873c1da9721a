package io.gameq.writer;

import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A gameq.yaml for the test servers, with the rights of a writer, and command lines that use it.
 */
public record ConfigFile(Path file) {
  public static ConfigFile write(Path directory, MySqlServer mysql, String namespace, int slots)
      throws IOException {
    return write(directory, mysql, namespace, slots, TestServers.redisUri(Role.WRITER, namespace));
  }

  /** The same with another Redis. */
  public static ConfigFile write(
      Path directory, MySqlServer mysql, String namespace, int slots, String redisUri)
      throws IOException {
    return new ConfigFile(
        Files.writeString(
            directory.resolve("gameq.yaml"),
            """
            namespace: %s
            slots: %d
            redis: { uri: "%s" }
            mysql: { url: "%s", user: "%s", password: "%s" }
            """
                .formatted(
                    namespace,
                    slots,
                    redisUri,
                    mysql.jdbcUrl(),
                    mysql.as(Role.WRITER).user(),
                    mysql.as(Role.WRITER).password())));
  }

  /** Runs a command, its words separated by spaces. */
  public CommandLineRun run(String command) {
    List<String> args = new ArrayList<>(List.of(command.split(" ")));
    args.addAll(List.of("--config", file.toString()));
    CommandLineRun run = CommandLineRun.of(args.toArray(String[]::new));
    if (command.contains(" --json")) {
      JsonFields.check(command, run.out());
    }
    return run;
  }
}
