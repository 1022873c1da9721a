package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.message.PayloadText;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.MySqlServer;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.RawHttp.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;

/** Topics as operators see them: by command line, meters and console. Each test has its own. */
@TestInstance(Lifecycle.PER_CLASS)
class TopicsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SECRET = "the-payload";
  private static final String ERROR = "handler failed: <b>\u001b[31m";

  @TempDir Path files;

  private ConsoleWorld world;
  private TopicPlay play;
  private RawHttp http;
  private String host;
  private String origin;

  @BeforeAll
  void start(@TempDir Path directory) throws Exception {
    world = new ConsoleWorld(directory, ConsoleWorld.tokens());
    play = new TopicPlay(world.game);
    http = world.raw();
    host = "Host: localhost:" + http.port();
    origin = "Origin: http://localhost:" + http.port();
  }

  @AfterAll
  void stop() {
    play.close();
    world.close();
  }

  private CommandLineRun run(int exitCode, String command) {
    CommandLineRun run = world.file.run(command);
    System.out.println("$ gameq-writer " + command + "\n" + run.out() + run.err());
    assertEquals(exitCode, run.exitCode(), run::toString);
    return run;
  }

  private void define(String topic) {
    play.define(topic, 0);
  }

  private static byte[] payload() {
    return SECRET.getBytes(UTF_8);
  }

  private String audited(String action, String topic) throws Exception {
    return world.game.queryText(
        "SELECT COUNT(*) FROM gameq_audit WHERE action = '%s' AND target LIKE '%s%%'"
            .formatted(action, topic));
  }

  @Test
  void oneScreenShowsEachTopicAndStatusThoseWithSomethingToTell() throws Exception {
    define("building");
    define("idle");
    play.publish("building", null, "later", 3_600_000, payload());
    play.publish("building", null, "now", 0, payload());
    String screen = world.file.run("topics").out();
    System.out.println(screen);
    String line = screen.lines().filter(of -> of.startsWith("building")).findFirst().orElse("");
    assertTrue(line.matches("building +2 +1 +0 +0 .*4 slots, lease 30 s, 2 attempts.*"), screen);
    String status = world.file.run("status").out();
    assertTrue(status.contains("building: 1 due, the oldest for "), status);
    assertFalse(status.contains("idle"), status);
    JsonNode json = JSON.nullNode();
    for (String of : world.file.run("topics --json").out().lines().toList()) {
      json = of.contains("\"building\"") ? JSON.readTree(of) : json;
    }
    assertEquals(2, json.path("pending").asInt());
    assertEquals(30_000, json.path("leaseMillis").asInt());
    assertEquals(
        "building",
        JSON.readTree(world.file.run("status --json").out())
            .path("topics")
            .path(0)
            .path("topic")
            .asText());
  }

  @Test
  void messagesAreListedByStateInPagesThatShowEachOnce() throws Exception {
    define("paged");
    for (int i = 0; i < 25; i++) {
      play.publish("paged", null, "k" + i, 3_600_000 + i, payload());
    }
    assertEquals(25, keysByPages("paged", "pending").size());
    assertEquals(0, keysByPages("paged", "ready").size());
    for (int i = 0; i < 25; i++) {
      play.publish("paged", null, "k" + i, 0, payload());
    }
    assertEquals(25, keysByPages("paged", "ready").size());
    play.die("paged", ERROR);
    assertEquals(25, keysByPages("paged", "dead").size());
    assertEquals(0, keysByPages("paged", "pending").size());
    run(ExitCodes.COULD_NOT_RUN, "topics show paged --after nonsense");
    run(ExitCodes.COULD_NOT_RUN, "topics show nowhere");
  }

  private Set<String> keysByPages(String topic, String state) {
    Set<String> keys = new TreeSet<>();
    String after = "";
    int shown = 0;
    do {
      String page =
          world.file.run("topics show " + topic + " --state " + state + " --limit 7" + after).out();
      assertFalse(page.contains("\u001b"), page);
      List<String> found =
          page.lines()
              .filter(of -> of.matches("k\\d+ .*"))
              .map(of -> of.substring(0, of.indexOf(' ')))
              .toList();
      keys.addAll(found);
      shown += found.size();
      String next = page.lines().filter(of -> of.startsWith("more: ")).findFirst().orElse("more: ");
      after = next.equals("more: ") ? "" : " " + next.substring("more: ".length());
    } while (!after.isEmpty());
    assertEquals(keys.size(), shown, "one was shown twice");
    return keys;
  }

  @Test
  void aTraceSaysWhereAMessageIsAndWhatHappensNext() throws Exception {
    define("upgrade");
    play.publish("upgrade", "player:7", "castle", 0, payload());
    play.publish("upgrade", "player:7", "wall", 60_000, payload());
    String wall = run(ExitCodes.OK, "topics trace upgrade wall --group player:7").out();
    assertTrue(wall.contains("a consumer takes it then, after 1 message of its group"), wall);
    assertFalse(wall.contains(SECRET), wall);
    List<TakenMessage> taken = play.take("upgrade");
    assertEquals(1, taken.size());
    play.publish("upgrade", "player:7", "castle", 5_000, payload());
    String held = run(ExitCodes.OK, "topics trace upgrade castle --group player:7 --values").out();
    assertTrue(held.contains("node n<1> handles it, attempt 1 of 2"), held);
    assertTrue(held.contains("a newer message of this key is handled after it"), held);
    assertTrue(held.contains("= " + SECRET), held);
    assertEquals("1", audited("topic show", "upgrade: castle of player:7"));
    assertTrue(
        run(ExitCodes.FOUND_SOMETHING, "topics trace upgrade castle")
            .out()
            .contains("no message of this key"));
    String heldPage = run(ExitCodes.OK, "topics show upgrade --state held").out();
    assertTrue(heldPage.contains("n<1>"), heldPage);
  }

  @Test
  void aPausedTopicSaysWhoAndWhyUntilItIsResumed() throws Exception {
    define("paused");
    play.publish("paused", null, "k", 0, payload());
    run(ExitCodes.COULD_NOT_RUN, "topics pause nowhere --reason x");
    run(ExitCodes.OK, "topics pause paused --reason moving");
    assertTrue(world.file.run("topics").out().contains("topic paused is paused by "));
    String trace = run(ExitCodes.FOUND_SOMETHING, "topics trace paused k").out();
    assertTrue(trace.contains("the topic is paused by") && trace.contains("moving"), trace);
    assertTrue(world.file.run("status").out().contains("paused: see 'gameq-writer topics'"));
    String metrics = await().atMost(LONG).until(this::metrics, of -> of.contains(PAUSED));
    assertTrue(metrics.contains("gameq_topic_messages{state=\"pending\",topic=\"paused\"} 1.0"));
    assertTrue(metrics.contains("gameq_topic_overdue_seconds{topic=\"paused\"}"), metrics);
    run(ExitCodes.OK, "topics resume paused");
    run(ExitCodes.FOUND_SOMETHING, "topics resume paused");
    assertEquals("1", audited("topic pause", "paused"));
    assertEquals("1", audited("topic resume", "paused"));
  }

  @Test
  void aLimitedTopicSaysHowFarByWhomAndWhyUntilItIsEnded() throws Exception {
    define("limited");
    run(ExitCodes.COULD_NOT_RUN, "topics rate limited 50");
    run(ExitCodes.COULD_NOT_RUN, "topics rate limited fast --reason x");
    run(ExitCodes.COULD_NOT_RUN, "topics rate limited 0 --reason x");
    run(ExitCodes.OK, "topics rate limited 2.50 --reason slow");
    String topics = world.file.run("topics").out();
    assertTrue(topics.contains("topic limited is limited to 2.5 messages a second by "), topics);
    assertTrue(world.file.run("topics --json").out().contains("\"perSecond\":2.5"));
    run(ExitCodes.OK, "topics rate limited none");
    run(ExitCodes.FOUND_SOMETHING, "topics rate limited none");
    assertEquals("1", audited("topic rate", "limited"));
    assertEquals("1", audited("topic rate end", "limited"));
  }

  @Test
  void anEmptyTopicIsRemovedAndOneWithMessagesIsNot() throws Exception {
    define("leaving");
    play.publish("leaving", null, "k", 0, payload());
    CommandLineRun refused = run(ExitCodes.COULD_NOT_RUN, "topics remove leaving");
    assertTrue(refused.err().contains("1 pending"), refused::toString);
    run(ExitCodes.COULD_NOT_RUN, "topics remove nowhere");
    define("gone");
    run(ExitCodes.OK, "topics remove gone");
    String left = world.file.run("topics").out();
    assertTrue(left.contains("leaving ") && !left.contains("gone "), left);
    assertEquals("1", audited("topic remove", "gone"));
    run(ExitCodes.COULD_NOT_RUN, "topics remove gone");
  }

  @Test
  void optionsAreChangedAuditedAndThoseOfPlacesInAnEmptyTopicAlone() throws Exception {
    define("options");
    play.publish("options", null, "k", 0, payload());
    String before = run(ExitCodes.OK, "topics options options").out();
    assertTrue(before.contains("leaseMillis=30000\n"), before);
    String set = "topics options options --set leaseMillis=5000 --set backoff=2s";
    String dry = run(ExitCodes.OK, set + " --dry-run").out();
    assertTrue(dry.startsWith("leaseMillis 30000 -> 5000\nbackoff fixed 1s -> 2s\ntopic"), dry);
    assertTrue(dry.contains("topic options would be changed; "), dry);
    assertEquals(before, run(ExitCodes.OK, "topics options options").out());

    run(ExitCodes.OK, set + " --set mostAttempts=7");
    run(ExitCodes.FOUND_SOMETHING, set);
    String after = run(ExitCodes.OK, "topics options options").out();
    assertTrue(after.contains("leaseMillis=5000\n") && after.contains("mostAttempts=7\n"), after);
    assertTrue(world.file.run("topics").out().contains("lease 5 s, 7 attempts"), "Redis has it");
    assertEquals(
        "mostAttempts 2 -> 7, leaseMillis 30000 -> 5000, backoff fixed 1s -> 2s",
        world.game.queryText(
            "SELECT detail FROM gameq_audit WHERE action = 'topic options' AND target ="
                + " 'options'"));

    String full = run(ExitCodes.COULD_NOT_RUN, "topics options options --set slots=2").err();
    assertTrue(full.contains("topic options is not empty: 1 pending"), full);
    String misspelt = run(ExitCodes.COULD_NOT_RUN, "topics options options --set slot=2").err();
    assertTrue(misspelt.contains("no option 'slot' (did you mean slots?)"), misspelt);
    define("still-empty");
    run(
        ExitCodes.OK,
        "topics options still-empty --set slots=2 --set ageMillis=1000 --set backoff=2s");
    run(ExitCodes.COULD_NOT_RUN, "topics options nowhere");
  }

  /** The writer's user adds to the audit log, and so what he attempts; who migrates removes. */
  @Test
  void theAuditLogIsOnlyAddedToButByTheUserOfMigrations() throws Exception {
    world
        .game
        .database
        .server()
        .execute(
            "INSERT INTO gameq_audit (done_at, who, via, action, target, detail) VALUES"
                + " (UTC_TIMESTAMP(3) - INTERVAL 40 DAY, 'a', 'b', 'c', 'd', 'old')");
    CommandLineRun refused = run(ExitCodes.COULD_NOT_RUN, "audit --remove-older-than 30");
    assertTrue(refused.err().contains("DELETE command denied"), refused::toString);
    MySqlServer migration = world.game.database.as(Role.MIGRATION);
    Path file = files.resolve("migration.yaml");
    Files.writeString(
        file,
        Files.readString(world.file.file())
            .replaceFirst(
                "mysql: .*",
                "mysql: { url: \"%s\", user: \"%s\", password: \"%s\" }"
                    .formatted(migration.jdbcUrl(), migration.user(), migration.password())));
    CommandLineRun removed =
        CommandLineRun.of("audit", "--remove-older-than", "30", "--config", file.toString());
    assertEquals("1 entry removed", removed.out().strip(), removed::toString);
    String entries = "SELECT COUNT(*) FROM gameq_audit WHERE ";
    assertEquals("0", world.game.queryText(entries + "detail = 'old'"));
    assertEquals(
        "2", world.game.queryText(entries + "action = 'audit remove' AND who NOT LIKE '?%'"));
  }

  private static final String PAUSED = "gameq_topic_paused{topic=\"paused\"} 1.0";

  private String metrics() throws IOException {
    return http.get("/metrics", host, "Authorization: Bearer " + ConsoleWorld.LOOKING).body();
  }

  @Test
  void deadLettersAreRetriedWithAnotherPayloadOrDiscarded() throws Exception {
    define("letters");
    byte[] record = PayloadText.bytes(PayloadText.Form.RECORD, "{\"player\":7,\"gold\":-5}");
    for (String key : List.of("a", "b", "c", "d")) {
      play.publish("letters", null, key, 0, record);
    }
    play.die("letters", ERROR);
    assertTrue(
        run(ExitCodes.FOUND_SOMETHING, "topics")
            .out()
            .contains("topic letters has 4 dead letters"));
    assertTrue(
        run(ExitCodes.FOUND_SOMETHING, "topics trace letters a --values")
            .out()
            .contains("= {\"player\":7,\"gold\":-5}"));
    Path file = Files.writeString(files.resolve("payload.json"), "{\"player\":7,\"gold\":5}\n");
    run(ExitCodes.OK, "topics dead retry letters a --record --payload-file " + file);
    List<TakenMessage> taken = play.take("letters");
    assertEquals(1, taken.size());
    assertArrayEquals(
        PayloadText.bytes(PayloadText.Form.RECORD, "{\"player\":7,\"gold\":5}"),
        MessageValue.decode(taken.get(0).value()).payload());
    run(ExitCodes.FOUND_SOMETHING, "topics dead retry letters a");
    run(ExitCodes.COULD_NOT_RUN, "topics dead discard letters b");
    run(ExitCodes.OK, "topics dead discard letters b --yes");
    play.publish("letters", null, "c", 60_000, record);
    String rest = run(ExitCodes.FOUND_SOMETHING, "topics dead retry letters --all").out();
    assertTrue(rest.contains("2 dead letters of topic letters, 1 due now"), rest);
    assertTrue(rest.contains("c: left alone (a newer message"), rest);
    Path large = Files.writeString(files.resolve("large"), "x".repeat(1_001));
    assertTrue(
        run(ExitCodes.COULD_NOT_RUN, "topics dead retry letters c --payload-file " + large)
            .err()
            .contains("the limit of topic letters is 1,000"));
    run(ExitCodes.COULD_NOT_RUN, "topics dead retry letters");
    assertEquals("2", audited("topic retry", "letters"));
    assertEquals("1", audited("topic discard", "letters"));
    assertEquals(
        "0", world.game.queryText("SELECT COUNT(*) FROM gameq_audit WHERE detail LIKE '%gold%'"));
  }

  @Test
  void theConsoleShowsPayloadsAndChangesThingsForThoseWhoMay() throws Exception {
    define("web");
    String key = "<i>k &é";
    play.publish("web", "g", key, 0, payload());
    play.die("web", ERROR);
    String named =
        JSON.createObjectNode().put("topic", "web").put("group", "g").put("key", key).toString();
    for (String path : List.of("topics", "topics/web", "topics/web/message?key=k")) {
      assertEquals(401, http.get("/console/api/" + path, host).status(), path);
    }
    for (String path : List.of("topic-values", "topic-pause", "topic-retry", "topic-discard")) {
      assertEquals(401, post(path, named, host, origin).status(), path);
    }
    Browser viewer = new Browser(ConsoleWorld.LOOKING);
    for (String path : List.of("topic-pause", "topic-resume", "topic-retry", "topic-discard")) {
      assertEquals(403, viewer.act(path, named).status(), path);
    }
    assertTrue(viewer.get("topics").body().contains("\"topic\":\"web\""));
    Answer page = viewer.get("topics/web?state=dead");
    assertEquals(200, page.status(), page::body);
    JsonNode dead = JSON.readTree(page.body()).path("page").path("messages").path(0);
    assertEquals(key, dead.path("key").asText());
    assertEquals(ERROR, dead.path("error").asText());
    assertTrue(dead.path("content").path("payload").isNull(), page::body);
    JsonNode shown = JSON.readTree(viewer.act("topic-values", named).body());
    JsonNode content = shown.path("places").path(0).path("content");
    assertEquals(SECRET, content.path("payload").path("text").asText(), shown::toString);
    assertEquals("1", audited("topic show", "web"));

    Browser operator = new Browser(ConsoleWorld.TOKEN);
    assertEquals(400, operator.act("topic-pause", "{\"topic\":\"web\"}").status());
    assertEquals(
        200, operator.act("topic-pause", "{\"topic\":\"web\",\"reason\":\"<b>\"}").status());
    assertTrue(operator.get("topics/web").body().contains("\"reason\":\"<b>\""));
    assertEquals(200, operator.act("topic-resume", "{\"topic\":\"web\"}").status());
    String stale = with(named, "version", "1").toString();
    assertTrue(operator.act("topic-discard", stale).body().contains("gone, or a newer one"));
    String retry =
        with(
                with(with(named, "version", content.path("version").asText()), "form", "text"),
                "payload",
                " mended ")
            .toString();
    Answer retried = operator.act("topic-retry", retry);
    assertTrue(retried.body().contains("\"became\":\"due now\""), retried::body);
    List<TakenMessage> taken = play.take("web");
    assertEquals(
        " mended ", new String(MessageValue.decode(taken.get(0).value()).payload(), UTF_8));
    assertEquals("1", audited("topic retry", "web"));
    assertEquals("1", audited("topic discard", "web"));
  }

  private static JsonNode with(Object json, String name, String value) throws IOException {
    return ((ObjectNode) JSON.readTree(json.toString())).put(name, value);
  }

  /** Somebody who is signed in, as a browser is. */
  private final class Browser {
    private final String cookie;
    private final String csrf;

    Browser(String token) throws IOException {
      String body = JSON.createObjectNode().put("name", "ann").put("token", token).toString();
      Answer answer = TopicsTest.this.post("session", body, host, origin);
      assertEquals(200, answer.status(), answer::body);
      cookie = "Cookie: " + answer.header("Set-Cookie").replaceFirst(";.*", "");
      csrf = "X-Gameq-Csrf: " + JSON.readTree(answer.body()).path("csrf").asText();
    }

    Answer get(String path) throws IOException {
      return http.get("/console/api/" + path, host, cookie);
    }

    Answer act(String path, String body) throws IOException {
      Answer form = TopicsTest.this.post("form", "{}", host, origin, cookie, csrf);
      String id = "X-Gameq-Form: " + JSON.readTree(form.body()).path("id").asText();
      return TopicsTest.this.post(path, body, host, origin, cookie, csrf, id);
    }
  }

  private Answer post(String path, String body, String... headers) throws IOException {
    List<String> all = new ArrayList<>(List.of(headers));
    all.add("Content-Type: application/json");
    return http.send("POST", "/console/api/" + path, body, all.toArray(String[]::new));
  }
}
