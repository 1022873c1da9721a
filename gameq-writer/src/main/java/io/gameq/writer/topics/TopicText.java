package io.gameq.writer.topics;

import io.gameq.message.PayloadText;
import io.gameq.redis.topic.DefinedTopic.Pause;
import io.gameq.redis.topic.DefinedTopic.Rate;
import io.gameq.redis.topic.TopicDefinition;
import io.gameq.redis.topic.TopicMessages.Retried;
import io.gameq.redis.topic.TopicMessages.TopicCounts;
import io.gameq.redis.topic.TopicSurvey;
import io.gameq.redis.topic.TopicSurvey.OfTopic;
import io.gameq.terminal.Shown;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How commands and console name topics and messages, and what is to be done. Stateless. */
public final class TopicText {
  /** Messages that are due for longer are not being handled. */
  private static final long LONG_MILLIS = 60_000;

  private TopicText() {}

  /** What is to be done, each in one line with its remedy; empty when all is well. */
  public static List<String> toDo(TopicSurvey survey) {
    List<String> all = new ArrayList<>();
    for (OfTopic of : survey.topics()) {
      String name = Shown.text(of.topic());
      if (!of.error().isEmpty()) {
        all.add("topic %s cannot be read: %s".formatted(name, Shown.text(of.error())));
      }
      toDo(name, of.counts(), of.pause() == null ? of.overdueMillis(survey.nowMillis()) : 0, all);
    }
    if (survey.left() > 0) {
      all.add(unwatched(survey.left()));
    }
    return all;
  }

  /** Of topics that nobody looks at. */
  public static String unwatched(int left) {
    return ("%s beyond %s, the last by name, are not watched and in no metric: 'gameq-writer topics"
            + " remove' removes topics, 'topics show' shows one")
        .formatted(Shown.count(left, "topic"), TopicSurvey.MOST_TOPICS);
  }

  /**
   * The same of one topic, added to a list.
   *
   * @param overdueMillis 0 where messages are to wait
   */
  public static void toDo(String topic, TopicCounts counts, long overdueMillis, List<String> all) {
    if (overdueMillis > LONG_MILLIS) {
      all.add(
          "the oldest message of topic %s is due for %s: does a node subscribe, and keep up?"
              .formatted(topic, Shown.duration(overdueMillis)));
    }
    if (counts.dead() > 0) {
      all.add(
          "topic %s has %s: see 'gameq-writer topics show %s --state dead'"
              .formatted(topic, Shown.count(counts.dead(), "dead letter"), topic));
    }
  }

  /** {@code topic mail is paused by ann@host since 2026-11-24 00:56:04.264 UTC: moving house}. */
  public static String pause(String topic, Pause pause) {
    return "topic %s is paused %s".formatted(Shown.text(topic), why(pause));
  }

  /** {@code by ann@host since 2026-11-24 00:56:04.264 UTC: moving house}. */
  static String why(Pause pause) {
    return why(pause.who(), pause.sinceMillis(), pause.reason());
  }

  private static String why(String who, long sinceMillis, String reason) {
    return "by %s since %s UTC: %s"
        .formatted(
            Shown.text(who), Shown.utc(Instant.ofEpochMilli(sinceMillis)), Shown.text(reason));
  }

  /** {@code topic mail is limited to 50 messages a second by ann@host since ...: why}. */
  static String rate(String topic, Rate rate) {
    return "topic %s is limited to %s".formatted(Shown.text(topic), rate(rate));
  }

  /** {@code 50 messages a second by ann@host since 2026-11-24 00:56:04.264 UTC: why}. */
  public static String rate(Rate rate) {
    return "%s a second %s"
        .formatted(
            number(rate.perSecond()) + (rate.perSecond() == 1 ? " message" : " messages"),
            why(rate.who(), rate.sinceMillis(), rate.reason()));
  }

  /** {@code 2.5}, {@code 50}. */
  static String number(double perSecond) {
    return BigDecimal.valueOf(perSecond).stripTrailingZeros().toPlainString();
  }

  /** {@code 16 slots, lease 30.000 s, 16 attempts, back-off fixed 1s, payload 65,536 bytes}. */
  public static String definition(TopicDefinition of) {
    return String.format(
        Locale.ROOT,
        "%s, lease %s, %s%s%s%s, payload %,d bytes",
        Shown.count(of.slots(), "slot"),
        seconds(of.leaseMillis()),
        Shown.count(of.mostAttempts(), "attempt"),
        of.backoff().isEmpty() ? "" : ", back-off " + Shown.text(of.backoff()),
        of.windowMillis() == 0 ? "" : ", window " + seconds(of.windowMillis()),
        of.ageMillis() == 0 ? "" : ", priorities, a step is " + seconds(of.ageMillis()),
        of.maxPayloadBytes());
  }

  private static String seconds(long millis) {
    return "%s s".formatted(millis / 1e3).replace(".0 s", " s");
  }

  static Map<String, Object> values(OfTopic of, TopicSurvey survey) {
    Map<String, Object> all = new LinkedHashMap<>();
    TopicCounts counts = of.counts();
    all.put("topic", of.topic());
    all.put("pending", counts.pending());
    all.put("due", counts.dueLanes());
    all.put("held", counts.held());
    all.put("retrying", counts.retrying());
    all.put("dead", counts.dead());
    all.put("overdueMillis", of.overdueMillis(survey.nowMillis()));
    all.put(
        "nextMillis",
        counts.firstDueMillis() < 0 ? null : counts.firstDueMillis() - survey.nowMillis());
    TopicDefinition definition = of.definition();
    if (definition != null) {
      all.put("slots", definition.slots());
      all.put("leaseMillis", definition.leaseMillis());
      all.put("mostAttempts", definition.mostAttempts());
      all.put("windowMillis", definition.windowMillis());
      all.put("ageMillis", definition.ageMillis());
      all.put("maxPayloadBytes", definition.maxPayloadBytes());
      all.put("backoff", definition.backoff());
    }
    Pause pause = of.pause();
    all.put("pause", pause == null ? null : values(pause));
    Rate rate = of.rate();
    all.put("perSecond", rate == null ? null : rate.perSecond());
    all.put("error", of.error().isEmpty() ? null : of.error());
    return all;
  }

  private static Map<String, Object> values(Pause of) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("reason", of.reason());
    all.put("by", of.who());
    all.put("at", Instant.ofEpochMilli(of.sinceMillis()).toString());
    return all;
  }

  /** A message as a JSON object; times in UTC. */
  static Map<String, Object> values(ListedMessage of) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("key", of.key());
    all.put("group", of.group());
    all.put("state", of.state().text());
    all.put(
        switch (of.state()) {
          case PENDING, READY -> "due";
          case HELD -> "leaseEnds";
          case DEAD -> "died";
        },
        Instant.ofEpochMilli(of.millis()).toString());
    all.put("behind", of.behind());
    all.put("attempts", of.attempts());
    all.put("node", of.node().isEmpty() ? null : of.node());
    all.put("error", of.error().isEmpty() ? null : of.error());
    ListedMessage.Content content = of.content();
    if (content != null) {
      all.put("version", content.version());
      all.put("since", Instant.ofEpochMilli(content.sinceMillis()).toString());
      all.put("priority", content.priority());
      all.put("schedule", content.schedule().isEmpty() ? null : content.schedule());
      all.put("payloadBytes", content.payloadBytes());
      PayloadText payload = content.payload();
      if (payload != null) {
        all.put("payloadForm", payload.form().name().toLowerCase(Locale.ROOT));
        all.put("payload", payload.text());
      }
    }
    return all;
  }

  /** What a retry did. */
  public static String became(Retried of) {
    return switch (of) {
      case RETRIED -> "due now";
      case GONE -> "gone, or a newer one by now: left alone";
      case OVERTAKEN -> "left alone: a newer message of this key is pending or held";
    };
  }

  /** What a discard did. */
  public static String became(boolean discarded) {
    return discarded ? "discarded" : "gone, or a newer one by now: left alone";
  }

  /** {@code 42}, {@code 42 of player:7}, as a terminal may show it. */
  public static String name(@Nullable String group, String key) {
    return Shown.text(key) + (group == null ? "" : " of " + Shown.text(group));
  }
}
