package io.gameq.writer.admin;

import io.gameq.redis.topic.DefinedTopic.Pause;
import io.gameq.redis.topic.DefinedTopic.Rate;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.redis.topic.TopicMessages.TopicCounts;
import io.gameq.redis.topic.TopicMessages.TopicSurvey;
import io.gameq.redis.topic.TopicMessages.TopicSurvey.TopicSummary;
import io.gameq.terminal.Shown;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How commands and console name topics and messages, and what is to be done. Stateless. */
public final class TopicText {
  /** Messages that are due for longer are not being handled. */
  private static final long LONG_MILLIS = 60_000;

  public static final RecordView<Pause> PAUSE =
      new RecordView<Pause>()
          .json("reason", Pause::reason)
          .json("by", Pause::who)
          .json("at", of -> Instant.ofEpochMilli(of.sinceMillis()));

  private TopicText() {}

  /** What is to be done, each in one line with its remedy; empty when all is well. */
  public static List<String> toDo(TopicSurvey survey) {
    List<String> all = new ArrayList<>();
    for (TopicSummary of : survey.topics()) {
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
    return Shown.line("topic %s is paused %s", topic, why(pause));
  }

  /** {@code by ann@host since 2026-11-24 00:56:04.264 UTC: moving house}. */
  public static String why(Pause pause) {
    return why(pause.who(), pause.sinceMillis(), pause.reason());
  }

  private static String why(String who, long sinceMillis, String reason) {
    return Shown.line("by %s since %s UTC: %s", who, Instant.ofEpochMilli(sinceMillis), reason);
  }

  /** {@code topic mail is limited to 50 messages a second by ann@host since ...: why}. */
  public static String rate(String topic, Rate rate) {
    return Shown.line("topic %s is limited to %s", topic, rate(rate));
  }

  /** {@code 50 messages a second by ann@host since 2026-11-24 00:56:04.264 UTC: why}. */
  public static String rate(Rate rate) {
    String messages = rate.perSecond() == 1 ? "message" : "messages";
    String why = why(rate.who(), rate.sinceMillis(), rate.reason());
    return "%s %s a second %s".formatted(number(rate.perSecond()), messages, why);
  }

  /** {@code 2.5}, {@code 50}. */
  static String number(double perSecond) {
    return BigDecimal.valueOf(perSecond).stripTrailingZeros().toPlainString();
  }

  /** {@code 16 slots, lease 30.000 s, 16 attempts, back-off fixed 1s, payload 65,536 bytes}. */
  public static String definition(TopicDefinition of) {
    return Shown.line(
        "%s%s, lease %s, %s%s%s%s, payload %,d bytes",
        of.hasOwners() ? "of owners, " : "",
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

  /** Topics as commands list them. */
  public static RecordView<TopicSummary> view(long nowMillis) {
    return new RecordView<TopicSummary>()
        .field("TOPIC", "topic", TopicSummary::topic)
        .field("PENDING", "pending", of -> of.counts().pending())
        .field("DUE", "due", of -> of.counts().dueLanes())
        .field("HELD", "held", of -> of.counts().held())
        .field("RETRYING", "retrying", of -> of.counts().retrying())
        .field("DEAD", "dead", of -> of.counts().dead())
        .json("overdueMillis", of -> of.overdueMillis(nowMillis))
        .column("OVERDUE", of -> time("", of.overdueMillis(nowMillis)))
        .json("nextMillis", of -> next(of, nowMillis))
        .column("NEXT", of -> time("in ", next(of, nowMillis)))
        .column("DEFINITION", of -> of.definition() == null ? "?" : definition(of.definition()))
        .jsonOf(of -> of.definition() == null ? Map.of() : of.definition().members())
        .json("pause", of -> of.pause() == null ? null : PAUSE.json(of.pause()))
        .json("perSecond", of -> of.rate() == null ? null : of.rate().perSecond())
        .json("error", of -> of.error().isEmpty() ? null : of.error())
        .leavingOut("DEFINITION", "NEXT");
  }

  private static String time(String before, @Nullable Long millis) {
    return millis == null || millis <= 0 ? "-" : before + Shown.duration(millis);
  }

  /** In how many ms the next message is due; null when none waits. */
  private static @Nullable Long next(TopicSummary of, long nowMillis) {
    long first = of.counts().firstDueMillis();
    return first < 0 ? null : first - nowMillis;
  }

  /** {@code 42}, {@code 42 of player:7}, as a terminal may show it. */
  public static String name(@Nullable String group, String key) {
    return Shown.text(key) + (group == null ? "" : " of " + Shown.text(group));
  }
}
