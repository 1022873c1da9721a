package io.gameq.writer.cli;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.GameQueueException;
import io.gameq.writer.terminal.Confirmation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The columns that an edit gives new values; mix it in. Used by one thread. */
final class ColumnOptions {
  private static final ObjectMapper JSON =
      new ObjectMapper()
          .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec command;

  @Option(
      names = "--set",
      paramLabel = "COLUMN[=VALUE]",
      description =
          "Set a column; without '=' its value is asked for. A value on the command line can be"
              + " seen by other users of the host and stays in the shell's history.")
  private List<String> set = new ArrayList<>();

  @Option(names = "--null", paramLabel = "COLUMN", description = "Set a column to NULL.")
  private List<String> toNull = new ArrayList<>();

  @Option(
      names = "--from",
      paramLabel = "FILE",
      description = "Set the columns that a JSON object in this file names; '-' reads stdin.")
  private @Nullable Path from;

  /**
   * The columns and their new values as text, null for NULL; asks for those that were not given.
   *
   * @throws CommandLine.ParameterException when none is named, or one twice
   * @throws GameQueueException when the file cannot be read, or there is no console to ask on
   */
  Map<String, @Nullable String> read() {
    Map<String, @Nullable String> columns = new LinkedHashMap<>();
    if (from != null) {
      fromJson(from).forEach((column, value) -> add(columns, column, value));
    }
    toNull.forEach(column -> add(columns, column, null));
    for (String given : set) {
      int equals = given.indexOf('=');
      String column = equals < 0 ? given : given.substring(0, equals);
      add(
          columns,
          column,
          equals < 0 ? Confirmation.ask("Value of " + column + ": ") : given.substring(equals + 1));
    }
    if (columns.isEmpty()) {
      throw wrong("nothing to change: give --set, --null or --from");
    }
    return columns;
  }

  private void add(Map<String, @Nullable String> columns, String column, @Nullable String value) {
    if (columns.containsKey(column)) {
      throw wrong("column " + column + " is given twice");
    }
    columns.put(column, value);
  }

  private static Map<String, @Nullable String> fromJson(Path file) {
    JsonNode tree;
    try {
      tree =
          JSON.readTree(
              file.toString().equals("-") ? System.in.readAllBytes() : Files.readAllBytes(file));
    } catch (JacksonException e) { // its message quotes the text
      throw new GameQueueException(
          "%s is not JSON (line %s)".formatted(file, e.getLocation().getLineNr()));
    } catch (IOException e) {
      throw new GameQueueException("%s cannot be read".formatted(file), e);
    }
    if (tree == null || !tree.isObject()) {
      throw new GameQueueException(
          "%s must be one JSON object, as in {\"count\": 5, \"name\": null}".formatted(file));
    }
    Map<String, @Nullable String> columns = new LinkedHashMap<>();
    tree.properties()
        .forEach(
            of -> {
              JsonNode value = of.getValue();
              String text = value.isValueNode() ? value.asText() : value.toString();
              columns.put(of.getKey(), value.isNull() ? null : text);
            });
    return columns;
  }

  private CommandLine.ParameterException wrong(String problem) {
    return new CommandLine.ParameterException(
        Objects.requireNonNull(command).commandLine(), problem);
  }
}
