package io.gameq.writer.http;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.config.Password;
import io.gameq.writer.config.AccessToken;
import io.gameq.writer.config.AccessToken.TokenRole;
import io.gameq.writer.config.WriterConfig.ConsoleMode;
import io.gameq.writer.config.WriterConfig.HttpSettings;
import io.gameq.writer.config.WriterConfig.MessageApiMode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpEndpointTest {
  private static final String TOKEN = "0123456789abcdef";

  private volatile boolean isAlive = true;
  private volatile List<String> problems = List.of();

  private HttpEndpoint open(@Nullable String token) {
    return HttpEndpoint.open(
        settings("127.0.0.1", 0, token),
        new HttpEndpoint.EndpointContent(() -> isAlive, () -> problems, () -> "gameq_rows 1\n"),
        routes -> {});
  }

  private static HttpSettings settings(String address, int port, @Nullable String token) {
    return new HttpSettings(
        address,
        port,
        true,
        token == null ? List.of() : List.of(new AccessToken("token", TokenRole.READ, token)),
        null,
        false,
        ConsoleMode.ACT,
        MessageApiMode.NONE);
  }

  /** What the server answers to a request with these header lines, as it stands on the wire. */
  private static String get(HttpEndpoint endpoint, String path, String... headers)
      throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), endpoint.port())) {
      String request = "GET " + path + " HTTP/1.0\r\n" + String.join("\r\n", headers) + "\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static void assertStatus(int expected, String answer) {
    assertTrue(answer.matches("(?s)HTTP/1\\.1 " + expected + " .*"), answer);
  }

  @Test
  void saysWhetherTheWriterLivesAndWorks() throws IOException {
    try (HttpEndpoint endpoint = open(null)) {
      assertStatus(200, get(endpoint, "/live", "Host: localhost"));
      assertStatus(200, get(endpoint, "/ready", "Host: localhost"));
      problems = List.of("MySQL is away: rows wait in Redis");
      String notReady = get(endpoint, "/ready", "Host: localhost");
      assertStatus(503, notReady);
      assertTrue(notReady.contains("MySQL is away"), notReady);
      assertStatus(200, get(endpoint, "/live", "Host: localhost"));
      isAlive = false;
      assertStatus(503, get(endpoint, "/live", "Host: localhost"));
    }
  }

  @Test
  void metersAreShownToPrometheus() throws IOException {
    try (HttpEndpoint endpoint = open(null)) {
      String answer = get(endpoint, "/metrics", "Host: 127.0.0.1:" + endpoint.port());
      assertStatus(200, answer);
      assertTrue(answer.contains("text/plain; version=0.0.4"), answer);
      assertTrue(answer.endsWith("gameq_rows 1\n"), answer);
      assertFalse(answer.contains("Jetty("), answer);
    }
  }

  @Test
  void aTokenIsAskedForOnceThereIsOne() throws IOException {
    try (HttpEndpoint endpoint = open(TOKEN)) {
      assertStatus(401, get(endpoint, "/metrics", "Host: localhost"));
      assertStatus(
          401,
          get(endpoint, "/metrics", "Host: localhost", "Authorization: Bearer " + TOKEN + "x"));
      assertStatus(401, get(endpoint, "/metrics", "Host: localhost", "Authorization: " + TOKEN));
      assertStatus(
          200, get(endpoint, "/metrics", "Host: localhost", "Authorization: Bearer " + TOKEN));
      assertStatus(200, get(endpoint, "/ready", "Host: localhost"));
      problems = List.of("db-1 is away");
      String anybody = get(endpoint, "/ready", "Host: localhost");
      assertStatus(503, anybody);
      assertFalse(anybody.contains("db-1"), anybody);
      String known = get(endpoint, "/ready", "Host: localhost", "Authorization: Bearer " + TOKEN);
      assertTrue(known.endsWith("db-1 is away\n"), known);
    }
  }

  @Test
  void whoGuessesTokensWaitsAndWhoHasOneDoesNot() throws IOException {
    try (HttpEndpoint endpoint = open(TOKEN)) {
      String wrong = "Authorization: Bearer " + TOKEN + "x";
      for (int i = 0; i < AccessTokens.MOST_WRONG_A_MINUTE - 1; i++) {
        assertStatus(401, get(endpoint, "/metrics", "Host: localhost", wrong));
      }
      assertStatus(429, get(endpoint, "/metrics", "Host: localhost", wrong));
      assertStatus(
          200, get(endpoint, "/metrics", "Host: localhost", "Authorization: Bearer " + TOKEN));
    }
  }

  @Test
  void aTokenThatWasReplacedInItsFileCountsWithoutARestart(@TempDir Path directory)
      throws IOException {
    Path file = Files.writeString(directory.resolve("token"), TOKEN + "\n");
    AccessTokens tokens =
        new AccessTokens(
            List.of(
                new AccessToken("shop", TokenRole.READ, Password.ofFile(file), List.of(), false)));
    assertTrue(tokens.find(TOKEN) != null);
    String renewed = "fedcba9876543210";
    Files.writeString(file, renewed);
    await().atMost(LONG).until(() -> tokens.find(renewed) != null);
    assertTrue(tokens.find(TOKEN) == null);
    Files.writeString(file, "short");
    await()
        .during(Duration.ofSeconds(6))
        .atMost(LONG)
        .until(() -> tokens.find(renewed) != null && tokens.find("short") == null);
  }

  @ParameterizedTest
  @ValueSource(strings = {"Host: evil.example", "Host: evil.example:80", "Host: localhost.evil"})
  void aPageFromElsewhereIsRefused(String host) throws IOException {
    try (HttpEndpoint endpoint = open(null)) {
      for (String path : List.of("/metrics", "/ready", "/live", "/nothing")) {
        assertStatus(421, get(endpoint, path, host));
      }
    }
  }

  @Test
  void otherHostsAreNotLetInWithoutAToken() {
    GameQueueException e =
        assertThrows(
            GameQueueException.class,
            () ->
                HttpEndpoint.open(
                    settings("0.0.0.0", 0, null),
                    new HttpEndpoint.EndpointContent(() -> true, List::of, () -> ""),
                    routes -> {}));
    assertTrue(String.valueOf(e.getMessage()).contains("http.tokenFile"), e::getMessage);
    assertFalse(settings("0.0.0.0", 0, TOKEN).toString().contains(TOKEN));
  }

  @Test
  void aTakenPortIsNamed() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      GameQueueException e =
          assertThrows(
              GameQueueException.class,
              () ->
                  HttpEndpoint.open(
                      settings("127.0.0.1", taken.getLocalPort(), null),
                      new HttpEndpoint.EndpointContent(() -> true, List::of, () -> ""),
                      routes -> {}));
      String message = String.valueOf(e.getMessage());
      assertTrue(message.contains("port " + taken.getLocalPort()), message);
      assertEquals(message, message.strip());
    }
  }
}
