package io.gameq.writer.topics;

import io.gameq.redis.topic.DefinedTopic;
import io.gameq.redis.topic.FoundMessage;
import io.gameq.redis.topic.TopicDefinition;
import io.gameq.terminal.Shown;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What will happen to a message next, in one sentence. Immutable.
 *
 * @param isToAct whether somebody has to do something
 * @param sentence with what is to be done, if anything is
 */
public record MessageNext(boolean isToAct, String sentence) {
  /** A message that is due for longer is not being looked at. */
  static final long LATE_MILLIS = 5_000;

  /**
   * Decides.
   *
   * @param ahead how many of its group are handled before it, at least
   */
  static MessageNext of(
      FoundMessage found,
      TopicDefinition topic,
      DefinedTopic.@Nullable Pause pause,
      long ahead,
      long nowMillis) {
    FoundMessage.Held held = found.held();
    FoundMessage.Pending pending = found.pending();
    FoundMessage.Dead dead = found.dead();
    if (held != null) {
      return held(held, topic, pending != null, nowMillis);
    }
    if (pending != null) {
      return pause == null
          ? pending(pending, ahead, nowMillis)
          : new MessageNext(
              true,
              ("the topic is paused by %s since %s UTC (%s): it waits until 'gameq-writer"
                          + " topics")
                      .formatted(
                          Shown.text(pause.who()),
                          Shown.utc(Instant.ofEpochMilli(pause.sinceMillis())),
                          Shown.text(pause.reason()))
                  + " resume %s'.".formatted(topic.topic()));
    }
    if (dead != null) {
      return new MessageNext(
          true,
          ("nothing: it failed %s and is set aside. Mend the cause, then 'gameq-writer"
                      + " topics dead")
                  .formatted(Shown.count(dead.attempts(), "time"))
              + " retry %s', or discard it.".formatted(topic.topic()));
    }
    return new MessageNext(
        true,
        "nothing: there is no message of this key. It was handled or deleted, or never published.");
  }

  private static MessageNext held(
      FoundMessage.Held of, TopicDefinition topic, boolean more, long nowMillis) {
    String after = more ? "; a newer message of this key is handled after it" : "";
    long left = of.leaseEndMillis() - nowMillis;
    if (left < 0) {
      return new MessageNext(
          -left > LATE_MILLIS,
          ("the lease of node %s ran out %s ago: the next consumer that looks has it handled"
                      + " again%s")
                  .formatted(Shown.text(of.node()), Shown.duration(-left), after)
              + (-left > LATE_MILLIS ? "; does a node subscribe to the topic?" : "."));
    }
    return new MessageNext(
        false,
        ("node %s handles it, attempt %s of %s; if it neither ends nor extends its lease,"
                    + " another")
                .formatted(Shown.text(of.node()), of.attempts(), topic.mostAttempts())
            + " has it in %s%s.".formatted(Shown.duration(left), after));
  }

  private static MessageNext pending(FoundMessage.Pending of, long ahead, long nowMillis) {
    String failed =
        of.error().isEmpty()
            ? ""
            : of.attempts() == 0
                ? "it was put off: %s; ".formatted(Shown.text(of.error()))
                : "it failed %s, at last with: %s; "
                    .formatted(Shown.count(of.attempts(), "time"), Shown.text(of.error()));
    String group =
        ahead == 0 ? "" : ", after %s of its group".formatted(Shown.count(ahead, "message"));
    long late = nowMillis - of.dueMillis();
    if (late < 0) {
      return new MessageNext(
          false,
          "%sdue in %s: a consumer takes it then%s."
              .formatted(failed, Shown.duration(-late), group));
    }
    if (late > LATE_MILLIS) {
      return new MessageNext(
          true,
          "%sdue since %s and not taken%s: does a node subscribe to the topic, and keep up?"
              .formatted(failed, Shown.duration(late), group));
    }
    return new MessageNext(
        false, "%sdue now: the next consumer takes it%s.".formatted(failed, group));
  }
}
