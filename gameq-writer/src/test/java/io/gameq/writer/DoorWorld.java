package io.gameq.writer;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.GameQueue;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.writer.config.ConfigReader;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.http.HttpEndpoint;
import io.gameq.writer.messages.MessageApi;
import io.gameq.writer.service.WriterNode;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** A game, and a door to its messages as a writer has one, with a node of its own. */
final class DoorWorld implements AutoCloseable {
  static final String ALL = "messages-for-tests-0123456789";
  static final String LOOKING = "looking-only-0123456789";
  static final String MAILS = "mails-only-0123456789";

  private static final ObjectMapper JSON = new ObjectMapper();

  final PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  final WriterNode node;
  final MessageApi door;
  final HttpEndpoint http;
  private final HttpClient client = HttpClient.newHttpClient();

  /** What came back. */
  record Answer(int status, JsonNode body, String retryAfter) {}

  /** At a game's database; {@code name} is that of the node. */
  DoorWorld(Game game, Path directory, String name, String plugins) throws IOException {
    GameDatabase database = game.database;
    Path own = Files.createDirectories(directory.resolve(name));
    ConfigFile file = ConfigFile.write(own, database.server(), game.namespace, Game.SLOTS);
    Files.writeString(
        file.file(),
        settings(database, own, name, plugins, game.namespace),
        StandardOpenOption.APPEND);
    WriterConfig config = ConfigReader.read(file.file());
    door = new MessageApi(config.http(), meters);
    http =
        HttpEndpoint.open(
            config.http(),
            new HttpEndpoint.EndpointContent(() -> true, List::of, meters::scrape),
            door::addTo);
    node = WriterNode.open(config);
    door.opens(node.queue(), game.mysql);
  }

  private static String settings(
      GameDatabase database, Path own, String name, String plugins, String namespace) {
    String[] redisLogin =
        URI.create(TestServers.redisUri(Role.NODE, namespace)).getUserInfo().split(":", 2);
    return """
    writer: { name: w-%1$s }
    http:
      port: 0
      door: open
      tokens:
        - { name: shop, token: %2$s, role: messages, define: true }
        - { name: viewer, token: %3$s }
        - { name: post, token: %4$s, role: messages, topics: "mail* letters" }
    node:
      name: %1$s
      walDirectory: "%5$s"
      redis: { user: "%9$s", password: "%10$s" }
      mysql: { user: "%6$s", password: "%7$s" }
      %8$s
    """
        .formatted(
            name,
            ALL,
            LOOKING,
            MAILS,
            own.resolve("wal"),
            database.as(Role.NODE).user(),
            database.as(Role.NODE).password(),
            plugins,
            redisLogin[0],
            redisLogin[1]);
  }

  GameQueue queue() {
    return node.queue();
  }

  Answer put(String path, String body) throws Exception {
    return send("PUT", path, body, ALL);
  }

  Answer post(String path, String body) throws Exception {
    return send("POST", path, body, ALL);
  }

  Answer get(String path) throws Exception {
    return send("GET", path, "", ALL);
  }

  /** Begins a request of which the last byte does not come. */
  Socket begin(String method, String path, int contentLength) throws IOException {
    return begin(method, path, contentLength, contentLength - 1);
  }

  /** Begins a request of which so many bytes have come. */
  Socket begin(String method, String path, int contentLength, int sent) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), http.port());
    String head =
        """
        %s /api/topics/%s HTTP/1.1
        Host: 127.0.0.1:%d
        Authorization: Bearer %s
        Content-Type: application/json
        Content-Length: %d

        """
            .formatted(method, path, http.port(), ALL, contentLength);
    socket.getOutputStream().write(head.replace("\n", "\r\n").getBytes(US_ASCII));
    socket.getOutputStream().write(new byte[sent]);
    return socket;
  }

  /** The status of {@code /ready/messages}. */
  int ready() throws Exception {
    return client
        .send(
            HttpRequest.newBuilder(
                    URI.create("http://127.0.0.1:%d/ready/messages".formatted(http.port())))
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .statusCode();
  }

  Answer send(String method, String path, String body, String token, String... headers)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:%d/api/topics/%s".formatted(http.port(), path)))
            .method(
                method,
                body.isEmpty()
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body))
            .header("Content-Type", "application/json");
    if (!token.isEmpty()) {
      request.header("Authorization", "Bearer " + token);
    }
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    HttpResponse<String> response =
        client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    return new Answer(
        response.statusCode(),
        JSON.readTree(response.body()),
        response.headers().firstValue("Retry-After").orElse(""));
  }

  @Override
  public void close() {
    door.closes();
    node.close();
    http.close();
  }
}
