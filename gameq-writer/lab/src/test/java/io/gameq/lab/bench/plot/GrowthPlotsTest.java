package io.gameq.lab.bench.plot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.lab.workload.BenchException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;

class GrowthPlotsTest {
  private static final String RESULT =
      """
      {"gameq": "1", "date": "2026-01-02T03:04:05Z",
       "machine": {"cores": 2, "processor": "A & B <c>", "memoryBytes": 25e9, "jvm": "J"},
       "servers": {"redis": {"redis_version": "8.0.6"}, "mysql": {"version": "9.7.4"}},
       "growth": {"players": {"points": [
         {"x": 1000, "figures": {"commits": {"unit": "1/s", "value": 50000}, "login p99": \
         {"unit": "ms", "value": 0.5}}},
         {"x": 10000, "figures": {"commits": {"unit": "1/s", "value": 40000}, "login p99": \
         {"unit": "ms", "value": 0}}},
         {"x": 100000, "figures": {"commits": {"unit": "1/s", "value": 30000}, "login p99": \
         {"unit": "ms", "value": 2}}}]}}}
      """;

  @TempDir Path directory;

  private static JsonNode json(String text) throws Exception {
    return new ObjectMapper().readTree(text);
  }

  @Test
  void drawsEachCurveAsXmlWithAllItsPoints() throws Exception {
    List<Path> files = GrowthPlots.write(json(RESULT), directory.resolve("new"));
    assertEquals(List.of(directory.resolve("new").resolve("growth-players.svg")), files);
    Document svg =
        DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(files.get(0).toFile());
    assertEquals("svg", svg.getDocumentElement().getTagName());
    assertEquals(2, svg.getElementsByTagName("polyline").getLength());
    assertEquals(5, svg.getElementsByTagName("circle").getLength(), "zero has no logarithm");
    String text = svg.getDocumentElement().getTextContent();
    for (String part :
        List.of(
            "commits at 10,000: 40,000",
            "login p99 at 1,000: 0.5",
            "1/s",
            "ms",
            "A & B <c>",
            "Redis 8.0.6, MySQL 9.7.4",
            "2026-01-02")) {
      assertTrue(text.contains(part), () -> part + " in " + text);
    }
  }

  @Test
  void pointsLieOnTheirLogarithmicAxes() {
    LogScale scale = LogScale.over(List.of(1.0, 1_000.0), 0, 300);
    assertEquals(0, scale.pixel(1), 1e-9);
    assertEquals(100, scale.pixel(10), 1e-9);
    assertEquals(300, scale.pixel(1_000), 1e-9);
    assertEquals(List.of(1.0, 10.0, 100.0, 1_000.0), scale.ticks());
    assertEquals(0, LogScale.over(List.of(100.0), 0, 300).pixel(100), 1e-9);
  }

  @Test
  void aResultWithoutCurvesIsRefused() throws Exception {
    JsonNode none = json("{\"gameq\": \"1\", \"growth\": {}}");
    assertThrows(BenchException.class, () -> GrowthPlots.write(none, directory));
    assertFalse(Files.exists(directory.resolve("growth-players.svg")));
  }
}
