package io.gameq.recovery.incidents;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.servers.RedisProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A Prometheus with gameq's alert rules, which asks and judges every 15 s. Thread-safe.
 *
 * <p>Targets are found in files: see https://prometheus.io/docs/guides/file-sd
 */
final class PrometheusProcess implements AutoCloseable {
  private final int port = RedisProcess.freePort();
  private final Path directory;
  private final Process process;
  private final HttpClient http = HttpClient.newHttpClient();

  /** An alert that fires; immutable. */
  record Alert(String name, String severity, String namespace, String instance, String summary) {}

  PrometheusProcess(Path directory) throws IOException {
    this.directory = Files.createDirectories(directory).toAbsolutePath();
    // A Prometheus without the file would run, and judge nothing.
    Path rules = Path.of("..", "..", "monitoring", "alerts.yaml").toRealPath();
    Files.writeString(
        this.directory.resolve("prometheus.yml"),
        """
        global: { scrape_interval: 15s, scrape_timeout: 10s, evaluation_interval: 15s }
        rule_files: ["%s"]
        scrape_configs:
          - job_name: gameq-writer
            file_sd_configs: [{ files: ["%s/*.writers.json"], refresh_interval: 5s }]
          - job_name: gameq-node
            file_sd_configs: [{ files: ["%s/*.nodes.json"], refresh_interval: 5s }]
        """
            .formatted(rules, this.directory, this.directory));
    process =
        new ProcessBuilder(
                "prometheus",
                "--config.file=" + this.directory.resolve("prometheus.yml"),
                "--storage.tsdb.path=" + this.directory.resolve("data"),
                "--web.listen-address=127.0.0.1:" + port)
            .redirectErrorStream(true)
            .redirectOutput(this.directory.resolve("prometheus.log").toFile())
            .start();
  }

  /** Whether there is one on the PATH. */
  static boolean isInstalled() {
    return Stream.of(System.getenv("PATH").split(":"))
        .anyMatch(place -> Files.isExecutable(Path.of(place, "prometheus")));
  }

  /** From now on it asks these, as a job. */
  void watch(String namespace, String job, List<Integer> ports) {
    String targets =
        "[{\"targets\": ["
            + String.join(", ", ports.stream().map(p -> "\"127.0.0.1:" + p + "\"").toList())
            + "]}]";
    try {
      Path whole = directory.resolve(namespace + "." + job + ".new");
      Files.writeString(whole, targets);
      Files.move(whole, directory.resolve(namespace + "." + job + ".json"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void forget(String namespace) {
    try {
      Files.deleteIfExists(directory.resolve(namespace + ".writers.json"));
      Files.deleteIfExists(directory.resolve(namespace + ".nodes.json"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** How many targets of these answer. */
  long up(List<Integer> ports) {
    long up = 0;
    for (JsonNode target : ask("/api/v1/targets?state=active").path("activeTargets")) {
      String instance = target.path("labels").path("instance").asText();
      if (target.path("health").asText().equals("up")
          && ports.stream().anyMatch(p -> instance.endsWith(":" + p))) {
        up++;
      }
    }
    return up;
  }

  List<Alert> firing() {
    List<Alert> firing = new ArrayList<>();
    for (JsonNode alert : ask("/api/v1/alerts").path("alerts")) {
      JsonNode labels = alert.path("labels");
      if (alert.path("state").asText().equals("firing")) {
        firing.add(
            new Alert(
                labels.path("alertname").asText(),
                labels.path("severity").asText(),
                labels.path("namespace").asText(),
                labels.path("instance").asText(),
                alert.path("annotations").path("summary").asText()));
      }
    }
    return firing;
  }

  private JsonNode ask(String path) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
    try {
      String body = http.send(request, HttpResponse.BodyHandlers.ofString()).body();
      return new ObjectMapper().readTree(body).path("data");
    } catch (IOException e) {
      return new ObjectMapper().createObjectNode(); // it starts
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    process.destroy();
    process.onExit().join();
  }
}
