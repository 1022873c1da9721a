package io.gameq.lab.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.lab.workload.BenchException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

/** Everything about a run in one JSON file. Stateless. */
public final class ResultJson {
  private static final ObjectMapper JSON = new ObjectMapper();

  private ResultJson() {}

  /**
   * What a run was.
   *
   * @param version of gameq
   * @param options as they were used, seed included
   * @param servers what Redis and MySQL say of themselves
   */
  public record Conditions(
      String version,
      Instant date,
      Map<String, Object> options,
      Map<String, Object> machine,
      Map<String, Object> servers) {}

  /**
   * Writes a file, over an older one.
   *
   * @throws IOException when it cannot be written
   */
  public static void write(Path file, Conditions conditions, BenchResult result)
      throws IOException {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("gameq", conditions.version());
    all.put("date", conditions.date().truncatedTo(ChronoUnit.SECONDS).toString());
    all.put("options", conditions.options());
    all.put("machine", conditions.machine());
    all.put("servers", conditions.servers());
    all.putAll(result.json());
    Files.writeString(file, JSON.<JsonNode>valueToTree(all).toPrettyString() + "\n");
  }

  /**
   * Reads a file that {@link #write} wrote.
   *
   * @throws BenchException when it is not one
   */
  public static JsonNode read(Path file) throws IOException {
    if (!Files.exists(file)) {
      throw new BenchException("there is no file " + file);
    }
    JsonNode json;
    try {
      json = JSON.readTree(Files.readString(file));
    } catch (IOException e) {
      throw new BenchException(file + " is not readable JSON", e);
    }
    if (!json.has("gameq") || !json.has("growth")) {
      throw new BenchException(file + " is not the result of a benchmark: write one with --json");
    }
    return json;
  }
}
