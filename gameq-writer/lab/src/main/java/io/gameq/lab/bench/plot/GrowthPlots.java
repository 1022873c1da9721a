package io.gameq.lab.bench.plot;

import com.fasterxml.jackson.databind.JsonNode;
import io.gameq.lab.workload.BenchException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Draws each growth curve of a result as {@code growth-<kind>.svg}. Stateless.
 *
 * <p>No library: XChart 3.8.8, the usual one, brings 16 jars and 5.6 MB for these 280 lines, among
 * them PDFBox and JUnit 5.10 (the tests here run on 6), and its SVG of three points is 125 KB of
 * outlines, without text and without values to point at; the largest here has 11 KB.
 */
public final class GrowthPlots {
  private static final String RATE = "1/s";
  private static final String LATENCY = "ms";

  private static final Map<String, String> X_NAMES =
      Map.of(
          "players", "players logged in",
          "backlog", "rows that wait",
          "writers", "writers with one worker each",
          "slots", "slots",
          "rowbytes", "bytes of a row");

  /** The last label of an axis is half outside of its panel. */
  private static final int MARGIN = 30;

  private GrowthPlots() {}

  /**
   * Draws all curves; returns the files.
   *
   * @throws BenchException when the result has none
   * @throws IOException when a file cannot be written
   */
  public static List<Path> write(JsonNode result, Path directory) throws IOException {
    if (result.path("growth").isEmpty()) {
      throw new BenchException("the result has no growth curve: measure one with --growth");
    }
    Files.createDirectories(directory);
    List<Path> files = new ArrayList<>();
    for (Map.Entry<String, JsonNode> curve : result.path("growth").properties()) {
      Path file = directory.resolve("growth-" + curve.getKey() + ".svg");
      Files.writeString(file, svg(curve.getKey(), curve.getValue().path("points"), result));
      files.add(file);
    }
    return files;
  }

  private static String svg(String kind, JsonNode points, JsonNode result) {
    String xName = X_NAMES.getOrDefault(kind, kind);
    List<Panel> panels = new ArrayList<>();
    for (String unit : List.of(RATE, LATENCY)) {
      Panel panel = new Panel(panels.size() * Panel.WIDTH, xName, unit);
      lines(points, unit).forEach((name, at) -> panel.add(new Panel.Line(name, at)));
      if (!panel.isEmpty()) {
        panels.add(panel);
      }
    }
    int width = 2 * Panel.WIDTH + MARGIN;
    int height = panels.stream().mapToInt(Panel::height).max().orElse(0) + 45;
    StringBuilder svg = new StringBuilder();
    svg.append(
        ("<svg xmlns='http://www.w3.org/2000/svg' width='%s' height='%s' viewBox='0 0 %s %s'"
                + " font-family='sans-serif' font-size='12'>%n<rect width='%s' height='%s'"
                + " fill='#fff'/>%n")
            .formatted(width, height, width, height, width, height));
    Panel.text(svg, width / 2.0, 24, "middle", "gameq: cost by " + xName);
    panels.forEach(panel -> panel.draw(svg));
    Panel.text(svg, width / 2.0, height - 26, "middle", machine(result));
    Panel.text(svg, width / 2.0, height - 10, "middle", servers(result));
    return svg.append("</svg>\n").toString();
  }

  /** The figures of a unit: their values above zero, which logarithms have. */
  private static Map<String, List<double[]>> lines(JsonNode points, String unit) {
    Map<String, List<double[]>> lines = new LinkedHashMap<>();
    for (JsonNode point : points) {
      for (Map.Entry<String, JsonNode> figure : point.path("figures").properties()) {
        double value = figure.getValue().path("value").asDouble();
        if (figure.getValue().path("unit").asText().equals(unit) && value > 0) {
          lines
              .computeIfAbsent(figure.getKey(), of -> new ArrayList<>())
              .add(new double[] {point.path("x").asDouble(), value});
        }
      }
    }
    return lines;
  }

  private static String machine(JsonNode result) {
    JsonNode machine = result.path("machine");
    return String.format(
        Locale.ROOT,
        "%s on %d cores (%s), %.0f GB, %s",
        result.path("date").asText(),
        machine.path("cores").asInt(),
        machine.path("processor").asText(),
        machine.path("memoryBytes").asDouble() / 1e9,
        machine.path("jvm").asText());
  }

  private static String servers(JsonNode result) {
    JsonNode servers = result.path("servers");
    return "gameq %s with Redis %s, MySQL %s"
        .formatted(
            result.path("gameq").asText(),
            servers.path("redis").path("redis_version").asText(),
            servers.path("mysql").path("version").asText());
  }
}
