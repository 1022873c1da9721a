package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.databind.JsonNode;
import io.gameq.servers.GameDatabase;
import io.gameq.topic.Claimed;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import io.gameq.writer.DoorWorld.Answer;
import io.gameq.writer.http.JsonBytes;
import io.gameq.writer.messages.MessageApi;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Messages over HTTP, as a program that is not Java has them. */
class MessageDoorTest {
  @TempDir static Path directory;

  private static Game game;
  private static DoorWorld here;
  private static DoorWorld there;

  record Mail(long playerId, double share, Instant sent, byte[] seal, String text) {}

  @BeforeAll
  static void start() throws Exception {
    GameDatabase database =
        GameDatabase.create("door")
            .table("purse", "player", "player_id", "player_id BIGINT NOT NULL PRIMARY KEY");
    game = new Game(database, directory);
    here = new DoorWorld(game, directory, "door-1", "");
    there = new DoorWorld(game, directory, "door-2", "");
  }

  @AfterAll
  static void stop() {
    here.close();
    there.close();
    game.close();
  }

  private static String audited(String action, String target, String who) throws Exception {
    return game.queryText(
        "SELECT COUNT(*) FROM gameq_audit WHERE action = '%s' AND target = '%s' AND who = '%s'"
            .formatted(action, target, who));
  }

  private static void define(String topic, String options) throws Exception {
    assertEquals(201, here.put(topic, options).status());
  }

  private static JsonNode take(String topic) throws Exception {
    Answer taken = here.post(topic + "/take", "{\"max\": 1, \"waitMillis\": 20000}");
    assertEquals(200, taken.status(), () -> taken.body().toString());
    return taken.body().path("messages").path(0);
  }

  private static String claims(JsonNode message) {
    return "{\"claims\": [\"%s\"]}".formatted(message.path("claim").asText());
  }

  @Test
  void aMessageIsPublishedTakenAndAcknowledgedAtTheDoorOfAnotherWriter() throws Exception {
    define("orders", "{}");
    assertEquals("1", audited("topic define", "topic orders", "shop"));
    assertEquals(200, here.put("orders/messages/a/b", "{\"payload\": {\"n\": 1}}").status());
    assertEquals("pending", here.get("orders/messages/a/b").body().path("state").asText());
    JsonNode taken = take("orders");
    assertEquals("a/b", taken.path("key").asText());
    assertEquals("{\"n\":1}", taken.path("payload").toString());
    assertEquals(1, here.get("orders").body().path("messages").path("held").asInt());
    String extend = claims(taken).replace("}", ", \"leaseMillis\": 60000}");
    assertEquals(200, there.post("orders/extend", extend).status());
    assertEquals(200, there.post("orders/acknowledge", claims(taken)).status());
    Answer again = here.post("orders/acknowledge", claims(taken));
    assertEquals(409, again.status());
    assertEquals(1, again.body().path("lost").size());
    assertTrue(again.body().path("error").asText().contains("lease"), again.body()::toString);
    assertEquals(404, here.get("orders/messages/a/b").status());
    String meters = here.meters.scrape();
    assertTrue(
        meters.contains("gameq_door_requests_seconds_count{route=\"acknowledge\",status=\"409\"}"),
        meters);
  }

  @Test
  void whatJsonSaysIsARecordOfJavaAndTheOtherWayRound() throws Exception {
    Topic<Mail> mails = here.queue().topic("mail", Mail.class);
    String payload =
        """
        {"playerId": 7, "share": 2, "sent": "2027-01-01T18:00:00Z", "seal": "0x01ff", "text": "ä"}\
        """;
    assertEquals(
        200,
        here.post(
                "mail/messages",
                "{\"messages\": [{\"key\": \"k\", \"payload\": %s}]}".formatted(payload))
            .status());
    Claimed<Mail> taken =
        mails.claims().take(1, LONG).get(LONG.toMillis(), TimeUnit.MILLISECONDS).get(0);
    assertEquals(7, taken.payload().playerId());
    assertEquals(2.0, taken.payload().share());
    assertEquals(Instant.parse("2027-01-01T18:00:00Z"), taken.payload().sent());
    assertEquals((byte) 0xff, taken.payload().seal()[1]);
    assertEquals(
        200, here.post("mail/acknowledge", "{\"claims\": [\"" + taken.claim() + "\"]}").status());
    mails.publish("j", taken.payload()).awaitQueued(LONG);
    JsonNode back = take("mail");
    assertEquals("ä", back.path("payload").path("text").asText());
    assertEquals("2027-01-01T18:00:00Z", back.path("payload").path("sent").asText());
    assertTrue(back.has("payloadBase64"), "JSON does not hold all of it");
  }

  @Test
  void bytesAreBase64AndAMessageIsWaitedForUntilItFallsDue() throws Exception {
    define("bytes", "{\"slots\": 2}");
    String bytes = Base64.getEncoder().encodeToString("\u0000hello".getBytes(UTF_8));
    long began = System.nanoTime();
    here.put(
        "bytes/messages/k?group=g",
        "{\"payloadBase64\": \"%s\", \"afterMillis\": 300}".formatted(bytes));
    JsonNode taken = take("bytes");
    assertTrue(System.nanoTime() - began >= TimeUnit.MILLISECONDS.toNanos(295), "not before");
    assertEquals(bytes, taken.path("payloadBase64").asText());
    assertEquals("g", taken.path("group").asText());
  }

  @Test
  void whatFailedIsTakenAgainAndALeaseThatRanOutLosesItsClaim() throws Exception {
    define("tries", "{\"leaseMillis\": 3000, \"retry\": {\"delaysMillis\": [0], \"attempts\": 4}}");
    here.put("tries/messages/k", "{\"payload\": {}}");
    JsonNode first = take("tries");
    String failed = claims(first).replace("}", ", \"error\": \"no bank\", \"afterMillis\": 1}");
    assertEquals(200, here.post("tries/fail", failed).status());
    String outage = claims(take("tries")).replace("}", ", \"counts\": false}");
    assertEquals(200, here.post("tries/fail", outage).status());
    JsonNode second = take("tries");
    assertEquals(2, second.path("attempt").asInt());
    JsonNode third = take("tries"); // after its lease
    assertTrue(
        Long.parseLong(third.path("fence").asText())
            > Long.parseLong(second.path("fence").asText()));
    assertEquals(409, here.post("tries/acknowledge", claims(second)).status());
    assertEquals(200, here.post("tries/acknowledge", claims(third)).status());
  }

  /**
   * What is beyond the limit is in no metric: the door defines no such topic, and says how many.
   */
  @Test
  void noMoreTopicsAreDefinedThanAreWatched() throws Exception {
    define("one-of-many", "{}");
    game.database
        .server()
        .execute(
            "INSERT INTO gameq_topic (topic, revision, state) SELECT CONCAT('full', seq), 1, state"
                + " FROM (SELECT a.n * 16 + b.n AS seq FROM "
                + SIXTEEN
                + " a, "
                + SIXTEEN
                + " b) numbers, (SELECT MIN(state) AS state FROM gameq_topic) one");
    try {
      Answer refused = here.put("one-too-many", "{}");
      assertEquals(400, refused.status());
      assertTrue(
          refused.body().path("error").asText().contains("topics remove"),
          refused.body()::toString);
    } finally {
      game.database.server().execute("DELETE FROM gameq_topic WHERE topic LIKE 'full%'");
    }
    define("one-too-many", "{}");
  }

  private static final String SIXTEEN =
      IntStream.range(0, 16)
          .mapToObj(i -> "SELECT " + i + " AS n")
          .collect(Collectors.joining(" UNION ALL ", "(", ")"));

  @Test
  void whoHasNoTokenForItIsRefused() throws Exception {
    define("letters", "{}");
    assertEquals(401, here.send("GET", "letters", "", "").status());
    assertEquals(401, here.send("GET", "letters", "", "wrong").status());
    assertEquals(200, here.send("GET", "letters", "", DoorWorld.LOOKING).status());
    here.put("letters/messages/seen", "{\"payload\": {\"n\": 1}}");
    assertEquals(200, here.get("letters/messages/seen").status());
    assertEquals("0", audited("topic show", "letters: seen", "shop"), "a program");
    assertEquals(200, here.send("GET", "letters/messages/seen", "", DoorWorld.LOOKING).status());
    assertEquals("1", audited("topic show", "letters: seen", "viewer"));
    assertEquals(403, here.send("POST", "letters/take", "{}", DoorWorld.LOOKING).status());
    assertEquals(200, here.send("POST", "letters/take", "{}", DoorWorld.MAILS).status());
    assertEquals(403, here.send("POST", "orders/take", "{}", DoorWorld.MAILS).status());
    assertEquals(
        403,
        here.send("GET", "letters", "", DoorWorld.ALL, "Origin", "http://evil.example").status());
  }

  @Test
  void whatIsWrongWithARequestIsSaid() throws Exception {
    define("wrongs", "{}");
    assertError(404, "no topic", here.post("nobodys/take", "{}"));
    assertError(409, "defined differently", here.put("wrongs", "{\"slots\": 2}"));
    assertError(400, "'keyy' is not known", here.put("wrongs/messages/k", "{\"keyy\": 1}"));
    assertError(400, "give one of", here.put("wrongs/messages/k", "{}"));
    assertError(400, "one JSON object", here.put("wrongs/messages/k", "{\"payload\": [1]}"));
    assertError(400, "no claim", here.post("wrongs/acknowledge", "{\"claims\": [\"x\"]}"));
    assertError(400, "1 to 100", here.post("wrongs/messages", "{\"messages\": []}"));
    assertError(400, "that is not JSON", here.post("wrongs/take", "{"));
    assertError(400, "'max' is 1 to 100", here.post("wrongs/take", "{\"max\": 101}"));
    String large = "x".repeat(70_000);
    assertError(
        400,
        "payloadBytes",
        here.put("wrongs/messages/k", "{\"payload\": {\"a\": \"" + large + "\"}}"));
    assertError(
        400,
        "'payload' is larger than the topic's payloadBytes",
        here.put("wrongs/messages/k", "{\"payload\": [%s1]}".formatted("1,".repeat(300_000))));
    String huge = "x".repeat(5 << 20);
    assertError(
        413,
        "bytes at most",
        here.put("wrongs/messages/k", "{\"payload\": {\"a\": \"" + huge + "\"}}"));
  }

  private static void assertError(int status, String text, Answer answer) {
    assertEquals(status, answer.status(), () -> answer.body().toString());
    String error = answer.body().path("error").asText();
    assertTrue(error.contains(text), error);
  }

  @Test
  void atMostAsManyAreTakenAsTheRateOfTheTopicAllows() throws Exception {
    define("slow", "{}");
    here.queue().topic("slow", TopicOptions.DEFAULT).rate(0.01, "a test");
    for (int i = 0; i < 5; i++) {
      assertEquals(200, here.put("slow/messages/" + i, "{\"payload\": {}}").status());
    }
    int first = here.post("slow/take", "{\"max\": 5}").body().path("messages").size();
    int second = here.post("slow/take", "{\"max\": 5}").body().path("messages").size();
    assertTrue(first + second <= 2, first + " and " + second);
  }

  @Test
  void whoWaitsIsAnsweredWhenTheWriterStopsAndThenItIsNotThere() throws Exception {
    define("last", "{}");
    try (DoorWorld stopped = new DoorWorld(game, directory, "door-3", "")) {
      CompletableFuture<Answer> waits =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return stopped.post("last/take", "{\"waitMillis\": 20000}");
                } catch (Exception e) {
                  throw new CompletionException(e);
                }
              });
      assertEquals(404, stopped.get("last/messages/k").status());
      assertEquals(200, stopped.ready());
      stopped.door.closes();
      assertEquals(503, stopped.ready());
      stopped.node.close();
      Answer answer = waits.get(LONG.toMillis(), TimeUnit.MILLISECONDS);
      assertTrue(Set.of(200, 503).contains(answer.status()), () -> answer.body().toString());
      assertEquals(0, answer.body().path("messages").size());
      Answer gone = stopped.get("last/messages/k");
      assertError(503, "the writer stops", gone);
      assertEquals("1", gone.retryAfter());
    }
  }

  @Test
  void topicsAreDefinedByTokensThatMayAlone() throws Exception {
    Answer refused = here.send("PUT", "mail2", "{}", DoorWorld.MAILS);
    assertEquals(403, refused.status());
    assertEquals(404, here.get("mail2").status());
  }

  @Test
  void bodiesThatAreBeingReadHaveSoMuchMemoryTogether() throws Exception {
    define("large", "{}");
    List<Socket> slow = new ArrayList<>();
    for (int i = 0; i < 2; i++) { // as a client that sends nothing more
      slow.add(here.begin("PUT", "large/messages/k" + i, 4 << 20));
    }
    String small = "{\"payload\": {\"n\": 1}}";
    await().atMost(LONG).until(() -> here.put("large/messages/k", small).status() == 429);
    for (Socket of : slow) {
      of.close();
    }
    await().atMost(LONG).until(() -> here.put("large/messages/k", small).status() == 200);
  }

  @Test
  void aBodyThatComesTooSlowlyIsRefused() throws Exception {
    define("drops", "{}");
    try (Socket slow = here.begin("PUT", "drops/messages/k", 60, 1)) {
      InputStream answer = slow.getInputStream();
      for (int sent = 1; sent < 60 && answer.available() == 0; sent++) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(250));
        slow.getOutputStream().write(' ');
      }
      assertEquals("HTTP/1.1 408", new String(answer.readNBytes(12), UTF_8));
    }
  }

  @Test
  void whoGoesAwayInTheMiddleOfABodyIsNoErrorOfTheLog() throws Exception {
    define("cut", "{}");
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.list = new CopyOnWriteArrayList<>();
    lines.setContext(new LoggerContext());
    lines.start();
    Logger body = (Logger) LoggerFactory.getLogger(JsonBytes.class);
    Logger failed = (Logger) LoggerFactory.getLogger(MessageApi.class);
    body.setLevel(Level.DEBUG);
    body.setAdditive(false);
    body.addAppender(lines);
    failed.addAppender(lines);
    try {
      try (Socket cut = here.begin("PUT", "cut/messages/k", 1_000, 10)) {
        cut.setSoLinger(true, 0);
      }
      await().atMost(LONG).until(() -> !lines.list.isEmpty());
      assertEquals(
          List.of("DEBUG a request was cut off"),
          lines.list.stream()
              .map(of -> of.getLevel() + " " + of.getFormattedMessage())
              .distinct()
              .toList());
    } finally {
      body.setLevel(null);
      body.setAdditive(true);
      body.detachAppender(lines);
      failed.detachAppender(lines);
    }
  }

  @Test
  void nothingThatIsDueIsAnEmptyListOnceTheTimeIsUp() throws Exception {
    define("empty", "{}");
    long began = System.nanoTime();
    Answer none = here.post("empty/take", "{\"waitMillis\": 200}");
    assertEquals(0, none.body().path("messages").size());
    assertTrue(Duration.ofNanos(System.nanoTime() - began).toMillis() >= 195);
  }
}
