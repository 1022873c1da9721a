package io.gameq.writer.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The option that every command with a configuration file has; mix it in. Subcommands have it. */
public final class ConfigOption {
  @Option(
      names = "--config",
      scope = ScopeType.INHERIT,
      paramLabel = "FILE",
      description = "The configuration file (default: gameq.yaml in the working directory).")
  private Path file = Path.of("gameq.yaml");

  /**
   * Reads the file.
   *
   * @throws io.gameq.GameQueueException naming the setting and the remedy
   */
  public WriterConfig read() {
    return ConfigReader.read(file);
  }

  /** What is in the file; empty where it cannot be read, as {@link #read} says. */
  public String text() {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return "";
    }
  }

  /** The file. */
  public Path file() {
    return file;
  }
}
