package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.GameQueueException;
import io.gameq.writer.RawHttp.Answer;
import io.gameq.writer.config.ConfigReader;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.console.Console;
import io.gameq.writer.http.HttpEndpoint;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.setup.TestCa;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A console whose servers are away: what it lets in depends on its settings alone. */
class ConsoleDoorsTest {
  private static final String TOKEN = "http: { port: 0, token: 0123456789abcdef%s }\n";

  @TempDir private static Path made;

  /** Trusts the certificate of {@code made}. */
  private static KeyStore known;

  @TempDir private Path directory;

  @BeforeAll
  static void makeCertificate() throws Exception {
    known = certificate(made);
  }

  private final class Doors implements AutoCloseable {
    private final Console console;
    private final HttpEndpoint endpoint;
    private final RawHttp http;

    Doors(String settings) throws IOException {
      WriterConfig config = config(settings);
      console =
          new Console(
              config,
              List.of(),
              new SimpleMeterRegistry(),
              new Console.WriterView(
                  () -> null,
                  Map::of,
                  () -> Pauses.NONE,
                  () -> null,
                  () -> List.of("waits for <b>MySQL</b>")));
      endpoint =
          HttpEndpoint.open(
              config.http(),
              new HttpEndpoint.EndpointContent(() -> true, List::of, () -> ""),
              console::addTo);
      http = new RawHttp(endpoint.port());
    }

    Answer get(String path) throws IOException {
      return http.get(path, "Host: localhost:" + http.port());
    }

    Answer post(String path, String body) throws IOException {
      return http.send(
          "POST",
          "/console/api/" + path,
          body,
          "Host: localhost:" + http.port(),
          "Origin: http://localhost:" + http.port(),
          "Content-Type: application/json");
    }

    int get(String path, String cookie) throws IOException {
      return http.get("/console/api/" + path, "Host: localhost:" + http.port(), cookie).status();
    }

    Answer changing(String path, String cookie, String csrf) throws IOException {
      return http.send(
          "POST",
          "/console/api/" + path,
          "{}",
          "Host: localhost:" + http.port(),
          "Origin: http://localhost:" + http.port(),
          "Content-Type: application/json",
          cookie,
          csrf);
    }

    @Override
    public void close() {
      endpoint.close();
      console.close();
    }
  }

  private WriterConfig config(String settings) throws IOException {
    return ConfigReader.read(
        Files.writeString(
            directory.resolve("gameq.yaml"),
            """
            namespace: doors
            redis: { uri: "redis://127.0.0.1:1" }
            mysql: { url: "jdbc:mysql://127.0.0.1:1/none", user: nobody }
            """
                + settings));
  }

  @Test
  void withoutATokenTheLoopbackConsoleIsForLooking() throws IOException {
    try (Doors doors = new Doors("http: { port: 0 }\n")) {
      Answer overview = doors.get("/console/api/overview");
      assertEquals(200, overview.status());
      assertTrue(overview.body().contains("waits for <b>MySQL</b>"), overview::body);
      for (String path : List.of("dead-retry", "dead-values", "stale-discard", "form")) {
        Answer refused = doors.post(path, "{\"ids\":[1]}");
        assertEquals(403, refused.status(), path);
        assertTrue(refused.body().contains("set http.tokenFile"), refused::body);
      }
      assertEquals(401, doors.post("session", "{\"name\":\"a\",\"token\":\"b\"}").status());
      assertEquals(303, doors.get("/").status());
      assertEquals(303, doors.get("/console").status());
    }
  }

  @Test
  void aServerThatIsAwayIsNamed() throws IOException {
    try (Doors doors = new Doors("http: { port: 0 }\n")) {
      Answer audit = doors.get("/console/api/audit");
      assertTrue(audit.status() == 503 || audit.status() == 400, audit::toString);
      assertTrue(audit.body().contains("MySQL"), audit::body);
    }
  }

  @Test
  void aConsoleThatIsNotWantedIsNotThere() throws IOException {
    try (Doors doors = new Doors("http: { port: 0, console: none }\n")) {
      for (String path : List.of("/console/", "/console/app.js", "/console/api/session", "/")) {
        assertEquals(404, doors.get(path).status(), path);
      }
      assertEquals(200, doors.get("/live").status());
    }
  }

  @Test
  void aReadOnlyConsoleSaysSo() throws IOException {
    try (Doors doors = new Doors(TOKEN.formatted(", console: read"))) {
      String state = doors.get("/console/api/session").body();
      assertTrue(state.contains("\"mayAct\":false"), state);
      assertTrue(state.contains("http.console"), state);
      assertEquals(401, doors.get("/console/api/overview").status());
    }
  }

  @Test
  void guessingIsHeldBack() throws IOException {
    try (Doors doors = new Doors(TOKEN.formatted(""))) {
      String wrong = "{\"name\":\"eve\",\"token\":\"0123456789abcdeg\"}";
      for (int i = 0; i < 10; i++) {
        assertEquals(401, doors.post("session", wrong).status(), "try " + i);
      }
      String right = "{\"name\":\"eve\",\"token\":\"0123456789abcdef\"}";
      assertEquals(429, doors.post("session", wrong).status());
      assertEquals(200, doors.post("session", right).status(), "others share the address");
    }
  }

  @Test
  void aTokenForSomeTopicsShowsTheseAlone() throws Exception {
    String token =
        "http: { port: 0, tokens: [{ name: mail, role: act, token: 0123456789abcdef,"
            + " topics: 'mail_*' }] }\n";
    try (Doors doors = new Doors(token)) {
      Answer in = doors.post("session", "{\"name\":\"eve\",\"token\":\"0123456789abcdef\"}");
      assertEquals(200, in.status(), in::toString);
      JsonNode state = new ObjectMapper().readTree(in.body());
      assertEquals("[\"mail_*\"]", state.path("topics").toString());
      String host = "Host: localhost:" + doors.http.port();
      String cookie = "Cookie: " + in.header("Set-Cookie").replaceFirst(";.*", "");
      for (String page :
          List.of(
              "overview",
              "slots",
              "fleet",
              "owners",
              "held",
              "dead",
              "stale",
              "settings",
              "audit",
              "topics/other",
              "topics/other/message?key=k")) {
        Answer refused = doors.http.get("/console/api/" + page, host, cookie);
        assertEquals(403, refused.status(), page);
        assertTrue(refused.body().contains("for topics mail_* alone"), refused::toString);
      }
      for (String page : List.of("topics", "topics/mail_1", "topics/mail_1/message?key=k")) {
        Answer letIn = doors.http.get("/console/api/" + page, host, cookie);
        assertEquals(503, letIn.status(), page + ": the servers are away");
      }
      String csrf = "X-Gameq-Csrf: " + state.path("csrf").asText();
      for (String act : List.of("topic-values", "topic-pause", "topic-resume", "topic-retry")) {
        assertEquals(403, changing(doors, act, "other", host, cookie, csrf), act);
        assertEquals(503, changing(doors, act, "mail_1", host, cookie, csrf), act);
      }
      for (String act : List.of("dead-retry", "dead-values", "stale-discard")) {
        assertEquals(403, changing(doors, act, "mail_1", host, cookie, csrf), act);
      }
    }
  }

  @Test
  void oneSignInIsForAllWritersAndKeptOverTheirRestartsUntilTheTokenChanges() throws Exception {
    Path token = Files.writeString(directory.resolve("token"), "0123456789abcdef");
    String settings = "http: { port: 0, tokenFile: '%s' }\n".formatted(token);
    String in = "{\"name\":\"ann\",\"token\":\"0123456789abcdef\"}";
    String cookie;
    String csrf;
    try (Doors one = new Doors(settings);
        Doors two = new Doors(settings)) {
      Answer answer = one.post("session", in);
      cookie = "Cookie: " + answer.header("Set-Cookie").replaceFirst(";.*", "");
      csrf = "X-Gameq-Csrf: " + new ObjectMapper().readTree(answer.body()).path("csrf").asText();
      assertEquals(200, one.get("overview", cookie));
      assertEquals(200, two.get("overview", cookie));
      assertEquals(401, two.get("overview", cookie + "x"));
      assertEquals(200, two.changing("form", cookie, csrf).status());
    }
    try (Doors again = new Doors(settings)) {
      assertEquals(200, again.get("overview", cookie));
      Answer out = again.changing("sign-out", cookie, csrf);
      assertEquals(200, out.status(), out::toString);
      assertTrue(out.header("Set-Cookie").contains("Max-Age=0"), out::toString);
      assertEquals(401, again.get("overview", cookie));
    }
    try (Doors again = new Doors(settings)) {
      assertEquals(200, again.get("overview", cookie), "another writer: see SECURITY.md");
      Files.writeString(token, "fedcba9876543210");
      await().atMost(LONG).until(() -> again.get("overview", cookie) == 401);
    }
  }

  private static int changing(Doors doors, String path, String topic, String... headers)
      throws IOException {
    String origin = "Origin: http://localhost:" + doors.http.port();
    String json = "Content-Type: application/json";
    List<String> all = new ArrayList<>(List.of(headers));
    all.addAll(List.of(origin, json));
    Answer form = doors.http.send("POST", "/console/api/form", "{}", all.toArray(String[]::new));
    all.add("X-Gameq-Form: " + new ObjectMapper().readTree(form.body()).path("id").asText());
    return doors
        .http
        .send(
            "POST",
            "/console/api/" + path,
            "{\"topic\":\"" + topic + "\",\"key\":\"k\",\"reason\":\"r\",\"version\":\"1\"}",
            all.toArray(String[]::new))
        .status();
  }

  /** The proxy speaks TLS with browsers, and plain HTTP with the writer. */
  @Test
  void behindAProxyTheProxySaysByWhichNameAndFromWhere() throws Exception {
    try (Doors doors = new Doors(TOKEN.formatted(", behindProxy: true"))) {
      String right = "{\"name\":\"ann\",\"token\":\"0123456789abcdef\"}";
      Answer in = proxied(doors, "https://console.example", "10.0.0.1", right);
      assertEquals(200, in.status(), in::toString);
      assertTrue(in.header("Set-Cookie").contains("; Secure"), in::toString);
      assertEquals(403, proxied(doors, "https://evil.example", "10.0.0.1", right).status());
      assertEquals(403, proxied(doors, "http://console.example", "10.0.0.1", right).status());
      String wrong = right.replace("abcdef", "abcdee");
      for (int i = 0; i < 10; i++) {
        assertEquals(401, proxied(doors, "https://console.example", "10.0.0.2", wrong).status());
      }
      assertEquals(429, proxied(doors, "https://console.example", "10.0.0.2", wrong).status());
      assertEquals(401, proxied(doors, "https://console.example", "10.0.0.3", wrong).status());
      assertEquals(200, proxied(doors, "https://console.example", "10.0.0.1", right).status());
    }
    try (Doors doors = new Doors(TOKEN.formatted(""))) {
      String right = "{\"name\":\"ann\",\"token\":\"0123456789abcdef\"}";
      Answer refused = proxied(doors, "https://console.example", "10.0.0.1", right);
      assertEquals(421, refused.status(), "nobody said that there is a proxy");
    }
    String open = "http: { port: 0, behindProxy: true }\n";
    GameQueueException e = assertThrows(GameQueueException.class, () -> new Doors(open).close());
    assertTrue(e.getMessage().contains("set http.tokenFile"), e::getMessage);
  }

  private static Answer proxied(Doors doors, String origin, String client, String body)
      throws IOException {
    return doors.http.send(
        "POST",
        "/console/api/session",
        body,
        "Host: console.example",
        "X-Forwarded-Proto: https",
        "X-Forwarded-For: " + client,
        "Origin: " + origin,
        "Content-Type: application/json");
  }

  @Test
  void httpsShowsTheCertificateOfTheSettings() throws Exception {
    try (Doors doors = new Doors(tls(made.resolve("cert-key.pem")))) {
      URI page = URI.create("https://localhost:" + doors.http.port() + "/console/");
      HttpsURLConnection trusting = (HttpsURLConnection) page.toURL().openConnection();
      trusting.setSSLSocketFactory(trusting(known).getSocketFactory());
      try (InputStream body = trusting.getInputStream()) {
        assertTrue(new String(body.readAllBytes(), UTF_8).contains("<title>gameq</title>"));
      }
      HttpURLConnection strange = (HttpURLConnection) page.toURL().openConnection();
      assertThrows(SSLHandshakeException.class, strange::connect);
    }
  }

  @Test
  void aCertificateThatWasRenewedIsShownWithoutARestart() throws Exception {
    Path renewed = Files.createDirectory(made.resolve("renewed"));
    KeyStore before = certificate(renewed);
    try (Doors doors = new Doors(tls(renewed, renewed.resolve("cert-key.pem")))) {
      URI page = URI.create("https://localhost:" + doors.http.port() + "/console/");
      assertTrue(isTrusted(page, before));
      KeyStore after = certificate(renewed);
      await().atMost(LONG).until(() -> isTrusted(page, after));
      assertFalse(isTrusted(page, before));
    }
  }

  private static boolean isTrusted(URI page, KeyStore by) throws Exception {
    HttpsURLConnection trusting = (HttpsURLConnection) page.toURL().openConnection();
    trusting.setSSLSocketFactory(trusting(by).getSocketFactory());
    try {
      return trusting.getResponseCode() == 200;
    } catch (SSLHandshakeException e) {
      return false;
    }
  }

  @Test
  void aKeyThatIsNoneIsNamedWithItsSetting() throws Exception {
    for (Path key : List.of(made.resolve("absent.pem"), made.resolve("cert.pem"))) {
      GameQueueException e =
          assertThrows(GameQueueException.class, () -> new Doors(tls(key)).close());
      assertTrue(e.getMessage().contains("setting 'http.tls.keyFile'"), e::getMessage);
      assertTrue(e.getMessage().contains(key.toString()), e::getMessage);
    }
    GameQueueException e =
        assertThrows(
            GameQueueException.class,
            () -> config("http: { tls: { certFile: " + made.resolve("cert.pem") + " } }\n"));
    assertTrue(e.getMessage().contains("http.tls.keyFile"), e::getMessage);
  }

  /** Otherwise it is not TLS that keeps others out. */
  @Test
  void beyondThisHostTlsAloneIsNotEnough() throws Exception {
    String settings =
        tls(made.resolve("cert-key.pem")).replace("port: 0", "port: 0, address: 0.0.0.0");
    GameQueueException e =
        assertThrows(GameQueueException.class, () -> new Doors(settings).close());
    assertTrue(e.getMessage().contains("http.tokenFile"), e::getMessage);
  }

  private static String tls(Path key) {
    return tls(made, key);
  }

  private static String tls(Path certificateIn, Path key) {
    return "http: { port: 0, tls: { certFile: \"%s\", keyFile: \"%s\" } }\n"
        .formatted(certificateIn.resolve("cert.pem"), key);
  }

  /** Makes cert.pem and cert-key.pem; returns what trusts them. */
  private static KeyStore certificate(Path into) throws Exception {
    TestCa authority = new TestCa(into, "authority");
    authority.sign("cert", "localhost", Duration.ofDays(1));
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    try (InputStream in = Files.newInputStream(authority.certificate())) {
      trusted.setCertificateEntry(
          "authority", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    return trusted;
  }

  private static SSLContext trusting(KeyStore trusted) throws Exception {
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }
}
