package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.OwnerSession;
import io.gameq.writer.RawHttp.Answer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;

/** Who may see and do what in the console, by what stands on the wire. */
@TestInstance(Lifecycle.PER_CLASS)
class ConsoleSecurityTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private ConsoleWorld world;
  private RawHttp http;
  private String host;
  private String origin;
  private long letter;

  @BeforeAll
  void start(@TempDir Path directory) throws Exception {
    world = new ConsoleWorld(directory, ConsoleWorld.tokens());
    http = world.raw();
    host = "Host: localhost:" + http.port();
    origin = "Origin: http://localhost:" + http.port();
    world.refuse();
    letter = world.letter("note");
  }

  @AfterAll
  void stop() {
    world.close();
  }

  /** Somebody who is signed in, as a browser is. */
  private final class Browser {
    private final String cookie;
    private final String csrf;

    Browser(String token) throws IOException {
      Answer answer = signIn("ann", token);
      assertEquals(200, answer.status(), answer::body);
      cookie = "Cookie: " + answer.header("Set-Cookie").replaceFirst(";.*", "");
      csrf = "X-Gameq-Csrf: " + JSON.readTree(answer.body()).path("csrf").asText();
    }

    Answer get(String path) throws IOException {
      return http.get("/console/api/" + path, host, cookie);
    }

    String form() throws IOException {
      Answer answer = post("form", "{}", host, origin, cookie, csrf);
      assertEquals(200, answer.status(), answer::body);
      return "X-Gameq-Form: " + JSON.readTree(answer.body()).path("id").asText();
    }

    Answer act(String path, String body) throws IOException {
      return post(path, body, host, origin, cookie, csrf, form());
    }
  }

  private Answer post(String path, String body, String... headers) throws IOException {
    List<String> all = new ArrayList<>(List.of(headers));
    all.add("Content-Type: application/json");
    return http.send("POST", "/console/api/" + path, body, all.toArray(String[]::new));
  }

  private Answer signIn(String name, String token) throws IOException {
    String body = JSON.createObjectNode().put("name", name).put("token", token).toString();
    return post("session", body, host, origin);
  }

  private String retry() {
    return "{\"ids\":[" + letter + "]}";
  }

  private String count(String sql) throws Exception {
    return world.game.queryText("SELECT COUNT(*) FROM " + sql);
  }

  @Test
  void withoutATokenNothingIsShownAndNothingIsDone() throws Exception {
    for (String path : List.of("overview", "slots", "dead", "dead/" + letter, "stale", "audit")) {
      assertEquals(401, http.get("/console/api/" + path, host).status(), path);
      String stranger = "Cookie: gameq-" + world.game.namespace + "=AAAA";
      assertEquals(401, http.get("/console/api/" + path, host, stranger).status(), path);
    }
    for (String path : List.of("dead-retry", "dead-discard", "dead-edit", "dead-values", "form")) {
      assertEquals(401, post(path, retry(), host, origin).status(), path);
    }
    assertEquals("2", count("gameq_dead_letter"));
  }

  @Test
  void theListOfTopicsHasThoseOfTheTokenAlone() throws Exception {
    for (String topic : List.of("mail_in", "trade")) {
      world.node.topic(topic, Text.class).publish("a", new Text("x")).awaitQueued(LONG);
    }
    Browser all = new Browser(ConsoleWorld.LOOKING);
    Browser ofMail = new Browser(ConsoleWorld.OF_MAIL);
    await().atMost(LONG).until(() -> names(all).equals(Set.of("mail_in", "trade")));
    assertEquals(Set.of("mail_in"), names(ofMail));
  }

  private record Text(String text) {}

  private static Set<String> names(Browser of) throws IOException {
    Answer answer = of.get("topics");
    assertEquals(200, answer.status(), answer::body);
    Set<String> names = new TreeSet<>();
    JSON.readTree(answer.body())
        .path("topics")
        .forEach(topic -> names.add(topic.path("topic").asText()));
    return names;
  }

  @Test
  void thePageTellsBrowsersToRunNothingElse() throws Exception {
    Answer page = http.get("/console/", host);
    assertEquals(200, page.status());
    String policy = page.header("Content-Security-Policy");
    for (String part :
        List.of(
            "default-src 'none'",
            "script-src 'self';",
            "style-src 'self';",
            "frame-ancestors 'none'",
            "base-uri 'none'")) {
      assertTrue(policy.contains(part), policy);
    }
    assertFalse(policy.contains("unsafe"), policy);
    assertEquals("nosniff", page.header("X-Content-Type-Options"));
    assertEquals("no-store", page.header("Cache-Control"));
    assertEquals("no-referrer", page.header("Referrer-Policy"));
    assertFalse(page.body().contains("http:"), "an asset from elsewhere");
    Answer api = http.get("/console/api/session", host);
    assertEquals(policy, api.header("Content-Security-Policy"));
    assertEquals("application/json", api.header("Content-Type"));
    for (String path : List.of("/console/../gameq.yaml", "/console/%2e%2e/%2e%2e/gameq.yaml")) {
      int status = http.get(path, host).status();
      assertTrue(status == 400 || status == 404, path + " " + status);
    }
  }

  @Test
  void theCookieIsOfNoUseToOthers() throws Exception {
    String cookie = signIn("ann", ConsoleWorld.TOKEN).header("Set-Cookie");
    for (String part : List.of("HttpOnly", "SameSite=Strict", "Path=/console", "Max-Age=28800")) {
      assertTrue(cookie.contains(part), cookie);
    }
    assertFalse(cookie.contains(ConsoleWorld.TOKEN), cookie);
  }

  @Test
  void aRequestFromElsewhereIsRefused() throws Exception {
    Browser ann = new Browser(ConsoleWorld.TOKEN);
    String form = ann.form();
    for (String from :
        List.of(
            "Origin: http://evil.example",
            "Origin: null",
            "Origin: http://localhost:1",
            "X-No-Origin: at all")) {
      Answer answer = post("dead-retry", retry(), host, from, ann.cookie, ann.csrf, form);
      assertEquals(403, answer.status(), from);
      assertEquals(403, post("session", "{}", host, from).status(), from);
    }
    String site = "Sec-Fetch-Site: cross-site";
    assertEquals(
        403, post("dead-retry", retry(), host, origin, site, ann.cookie, ann.csrf, form).status());
    assertEquals(403, http.get("/console/api/dead", host, site, ann.cookie).status());
    for (String forged : List.of("Host: evil.example", "Host: localhost.evil.example")) {
      assertEquals(421, http.get("/console/", forged, ann.cookie).status(), forged);
      assertEquals(
          421, post("dead-retry", retry(), forged, origin, ann.cookie, ann.csrf, form).status());
    }
    assertEquals("2", count("gameq_dead_letter"));
  }

  @Test
  void aFormCountsOnceAndOnlyWithTheTokenOfItsSession() throws Exception {
    Browser ann = new Browser(ConsoleWorld.TOKEN);
    Browser ben = new Browser(ConsoleWorld.TOKEN);
    String form = ann.form();
    assertEquals(403, post("dead-retry", retry(), host, origin, ann.cookie, form).status());
    assertEquals(
        403, post("dead-retry", retry(), host, origin, ann.cookie, ben.csrf, form).status());
    assertEquals(409, post("dead-retry", retry(), host, origin, ann.cookie, ann.csrf).status());
    assertEquals(
        409, post("dead-retry", retry(), host, origin, ben.cookie, ben.csrf, form).status());
    Answer first = post("dead-retry", retry(), host, origin, ann.cookie, ann.csrf, form);
    assertEquals(200, first.status(), first::body);
    Answer replayed = post("dead-retry", retry(), host, origin, ann.cookie, ann.csrf, form);
    assertEquals(409, replayed.status(), replayed::body);
  }

  @Test
  void whatIsTooLargeOrOfAnotherTypeIsRefused() throws Exception {
    Browser ann = new Browser(ConsoleWorld.TOKEN);
    String form = ann.form();
    String large = "{\"ids\":[" + "1,".repeat(40_000) + "1]}";
    assertEquals(413, post("dead-retry", large, host, origin, ann.cookie, ann.csrf, form).status());
    assertEquals(413, post("session", large, host, origin).status());
    Answer plain =
        http.send(
            "POST",
            "/console/api/dead-retry",
            retry(),
            host,
            origin,
            ann.cookie,
            ann.csrf,
            form,
            "Content-Type: text/plain");
    assertEquals(415, plain.status());
    for (String body : List.of("[]", "{", "{\"ids\":[]}", "{\"ids\":[\"1\"]}", "{\"ids\":[1.5]}")) {
      assertEquals(400, ann.act("dead-retry", body).status(), body);
    }
  }

  @Test
  void whoeverLooksOnlyMayNotAct() throws Exception {
    Browser viewer = new Browser(ConsoleWorld.LOOKING);
    assertEquals(200, viewer.get("dead").status());
    Answer refused = viewer.act("dead-retry", retry());
    assertEquals(403, refused.status());
    assertTrue(refused.body().contains("looking only"), refused::body);
    assertEquals(200, viewer.act("dead-values", retry()).status());
  }

  @Test
  void afterSigningOutTheCookieIsWorthNothing() throws Exception {
    Browser ann = new Browser(ConsoleWorld.TOKEN);
    assertEquals(200, ann.get("dead").status());
    assertEquals(200, post("sign-out", "{}", host, origin, ann.cookie, ann.csrf).status());
    assertEquals(401, ann.get("dead").status());
  }

  @Test
  void whatIsLookedAtAndDoneIsInTheAuditLogFirst() throws Exception {
    Browser ann = new Browser(ConsoleWorld.TOKEN);
    JsonNode hidden = JSON.readTree(ann.get("dead/" + letter).body());
    assertFalse(hidden.toString().contains("is too long"), hidden::toString);
    String before = count("gameq_audit WHERE action = 'dead show' AND who = 'ann (ops)'");
    JsonNode shown = JSON.readTree(ann.act("dead-values", retry()).body());
    assertTrue(shown.toString().contains("is too long"), shown::toString);
    assertEquals(
        Integer.parseInt(before) + 1,
        Integer.parseInt(count("gameq_audit WHERE action = 'dead show' AND who = 'ann (ops)'")));
    String retried =
        "gameq_audit WHERE action = 'dead retry' AND who = 'ann (ops)' AND via = 'console"
            + " 127.0.0.1'";
    int retriedBefore = Integer.parseInt(count(retried));
    assertEquals(200, ann.act("dead-retry", retry()).status());
    assertEquals(retriedBefore + 1, Integer.parseInt(count(retried)));
    CommandLineRun log = world.file.run("audit --json --limit 50");
    assertTrue(log.out().contains("\"who\":\"ann (ops)\",\"via\":\"console 127.0.0.1\""), log::out);
    assertFalse(log.out().contains("is too long"), log::out);
    assertTrue(ann.get("audit").body().contains("dead retry"));
  }

  @Test
  void aStoredScriptArrivesAsText() throws Exception {
    Browser ann = new Browser(ConsoleWorld.TOKEN);
    Answer answer = ann.get("dead?table=note");
    assertEquals("application/json", answer.header("Content-Type"));
    JsonNode found = JSON.readTree(answer.body()).path("letters").path(0);
    assertEquals(ConsoleWorld.GUILD, found.path("owner").asText());
    assertTrue(found.path("error").asText().contains(ConsoleWorld.SCRIPT), found::toString);
    JsonNode columns =
        JSON.readTree(ann.act("dead-values", retry()).body()).path("columns").path(1);
    assertEquals(ConsoleWorld.SCRIPT + " is too long", columns.path("refused").asText());
  }

  @Test
  void whatIsPausedIsShownWithItsReasonUntilItIsResumed() throws Exception {
    Browser ann = new Browser(ConsoleWorld.TOKEN);
    String slot = "{\"scope\":\"slot\",\"name\":\"3\"";
    assertEquals(400, ann.act("pause", slot + "}").status());
    Answer paused = ann.act("pause", slot + ",\"reason\":\"" + ConsoleWorld.SCRIPT + "\"}");
    assertEquals(200, paused.status(), paused::body);
    await().atMost(LONG).until(() -> ann.get("held").body().contains("ann (ops)"));
    assertTrue(ann.get("slots").body().contains(ConsoleWorld.SCRIPT));
    assertEquals(200, ann.act("resume", slot + "}").status());
    await().atMost(LONG).until(() -> !ann.get("held").body().contains("ann (ops)"));
    assertEquals(
        "pause,resume",
        world.game.queryText(
            "SELECT GROUP_CONCAT(action ORDER BY id) FROM gameq_audit WHERE target = 'slot 3'"));
    assertEquals(
        400, ann.act("pause", "{\"scope\":\"slot\",\"name\":\"999\",\"reason\":\"x\"}").status());
  }

  @Test
  void anOwnerAndARowAreTraced() throws Exception {
    Browser ann = new Browser(ConsoleWorld.LOOKING);
    JsonNode owner = JSON.readTree(ann.get("trace?owner=player:1").body());
    assertTrue(owner.path("next").path("isToAct").asBoolean(), owner::toString);
    JsonNode row = JSON.readTree(ann.get("trace-row?table=item&key=1,1").body());
    assertEquals("dead_letter", row.path("places").path(0).path("where").asText(), row::toString);
    assertFalse(row.toString().contains("6000"), row::toString);
    Answer values = ann.act("trace-row-values", "{\"table\":\"item\",\"key\":\"1,1\"}");
    assertTrue(values.body().contains("\"6000\""), values::body);
    assertEquals("1", count("gameq_audit WHERE action = 'show values' AND target = 'item:1,1'"));
  }

  private static boolean has(JsonNode states, String state, String what) {
    for (JsonNode of : states) {
      if (of.path("state").asText().equals(state) && of.path("what").asText().equals(what)) {
        return !of.path("cause").asText().isEmpty() && !of.path("ends").asText().isEmpty();
      }
    }
    return false;
  }

  @Test
  void whyAnOwnersRowsWaitIsOnItsPageAndOnTheFirst() throws Exception {
    Browser ann = new Browser(ConsoleWorld.TOKEN);
    JsonNode refused = JSON.readTree(ann.get("trace?owner=player:1").body());
    assertTrue(has(refused.path("held"), "dead letters", "1 row"), refused::toString);
    JsonNode owners = JSON.readTree(ann.get("held-owners").body());
    assertTrue(has(owners.path("states"), "dead letters", "player:1"), owners::toString);

    String table = "{\"scope\":\"table\",\"name\":\"item\"";
    assertEquals(200, ann.act("pause", table + ",\"reason\":\"alter\"}").status());
    world.commit(7, 1, 1, "a");
    JsonNode paused = JSON.readTree(ann.get("trace?owner=player:7").body());
    assertTrue(has(paused.path("held"), "paused", "table item"), paused::toString);
    await().atMost(LONG).until(() -> hasOnFirstPage(ann, "paused", "table item"));
    assertEquals(200, ann.act("resume", table + "}").status());

    OwnerSession hares = world.node.open("guild:hares");
    hares.put(new ConsoleWorld.Note("hares", "late"));
    world.game.database.server().execute("RENAME TABLE note TO gone");
    try {
      hares.commit().awaitQueued(LONG);
      await().atMost(LONG).until(() -> hasOnFirstPage(ann, "parked", "table note"));
      await()
          .atMost(LONG)
          .until(
              () -> {
                JsonNode of = JSON.readTree(ann.get("trace?owner=guild:hares").body());
                return has(of.path("held"), "parked", "table note")
                    && of.path("next").path("isToAct").asBoolean();
              });
    } finally {
      world.game.database.server().execute("RENAME TABLE gone TO note");
    }
    await()
        .atMost(LONG)
        .until(() -> JSON.readTree(ann.get("held").body()).path("states").isEmpty());
  }

  private static boolean hasOnFirstPage(Browser of, String state, String what) throws IOException {
    return has(JSON.readTree(of.get("overview").body()).path("held"), state, what);
  }

  @Test
  void anOwnerIsFoundByATextInItsRowsOverAnIndexAlone() throws Exception {
    world.note("wolves", "fine");
    world.note("wolf%s", "fine");
    await().atMost(LONG).until(() -> count("note WHERE guild LIKE 'wol%'").equals("2"));
    Browser ann = new Browser(ConsoleWorld.LOOKING);
    JsonNode columns = JSON.readTree(ann.get("columns").body()).path("columns");
    assertEquals(1, columns.size(), columns::toString);
    assertEquals("guild", columns.path(0).path("column").asText());
    assertEquals("guild:wolves", having(ann, "guild", "wolves", false));
    assertEquals("", having(ann, "guild", "wolve", false));
    assertEquals("guild:wolf%s,guild:wolves", having(ann, "guild", "wol", true));
    assertEquals("guild:wolf%s", having(ann, "guild", "wolf%", true));
    Answer whole = ann.act("owners-having", search("text", "fine", false));
    assertEquals(400, whole.status());
    assertTrue(whole.body().contains("no column of text that an index"), whole::body);
    assertEquals(
        "4", count("gameq_audit WHERE action = 'search values' AND target = 'note.guild'"));
    assertEquals("0", count("gameq_audit WHERE action = 'search values' AND detail LIKE '%wol%'"));
  }

  private static String search(String column, String text, boolean isBeginning) {
    return "{\"table\":\"note\",\"column\":\"%s\",\"text\":\"%s\"%s}"
        .formatted(column, text, isBeginning ? ",\"beginning\":true" : "");
  }

  private static String having(Browser of, String column, String text, boolean isBeginning)
      throws IOException {
    Answer answer = of.act("owners-having", search(column, text, isBeginning));
    assertEquals(200, answer.status(), answer::body);
    List<String> owners = new ArrayList<>();
    JSON.readTree(answer.body()).path("owners").forEach(owner -> owners.add(owner.asText()));
    return String.join(",", owners);
  }

  @Test
  void ownersAreInTheOrderOfTheirNumbers() throws Exception {
    for (int player : List.of(310, 39, 3100, 38)) {
      world.commit(player, 1, 1, "a");
    }
    List<String> owners = new ArrayList<>();
    JSON.readTree(new Browser(ConsoleWorld.LOOKING).get("owners?q=player:3").body())
        .path("owners")
        .forEach(of -> owners.add(of.path("owner").asText()));
    assertEquals(List.of("player:38", "player:39", "player:310", "player:3100"), owners);
  }

  @Test
  void theOverviewHasTheRateOfAllWriters() throws Exception {
    Browser ann = new Browser(ConsoleWorld.LOOKING);
    await().atMost(LONG).until(() -> JSON.readTree(ann.get("overview").body()).has("writers"));
    AtomicInteger count = new AtomicInteger();
    await()
        .atMost(LONG)
        .pollInterval(Duration.ofSeconds(1))
        .until(
            () -> {
              world.commit(50, 1, count.incrementAndGet(), "a"); // rates are of the last seconds
              return JSON.readTree(ann.get("overview").body()).path("rowsPerSecond").asDouble() > 0;
            });
  }
}
