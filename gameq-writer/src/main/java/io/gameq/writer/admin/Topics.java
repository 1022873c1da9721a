package io.gameq.writer.admin;

import io.gameq.GameQueueException;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.topic.DefinedTopic;
import io.gameq.redis.topic.DefinedTopic.Pause;
import io.gameq.redis.topic.DefinedTopic.Rate;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.redis.topic.TopicMessages;
import io.gameq.redis.topic.TopicMessages.FoundMessage;
import io.gameq.redis.topic.TopicMessages.Retried;
import io.gameq.redis.topic.TopicMessages.TopicCounts;
import io.gameq.redis.topic.TopicMessages.TopicSurvey;
import io.gameq.terminal.Shown;
import io.gameq.writer.admin.ActionResult.Resolution;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.pause.Pauses;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What an operator does with topics, by command line or console: each change, and each look at
 * payloads, is in the audit log before it is made, one entry however many messages it concerns.
 * Used by one thread at a time, which nobody shares the connection with; safe beside nodes and
 * other operators.
 *
 * <p>All methods throw {@link io.gameq.RedisUnavailableException} when Redis does not answer,
 * {@link io.gameq.MySqlException} when the audit log cannot be written (then nothing was done), and
 * {@link GameQueueException} when there is no such topic. What was told to a callback is done then.
 */
public final class Topics {
  private static final String LEFT = "left alone";
  private static final String NEWER = "it is gone, or a newer one by now";

  /** Longest page. */
  public static final int MOST_MESSAGES = TopicMessages.MOST;

  private final CommandServers servers;
  private final ControlConnection redis;
  private final Slots slots;
  private final Actor actor;

  /** Those of a namespace. Others close the servers; MySQL is not opened where Redis tells all. */
  public Topics(CommandServers servers, Actor actor) {
    this.servers = servers;
    this.redis = servers.redis();
    this.slots = servers.slots();
    this.actor = actor;
  }

  /** A dead letter that is meant: of this version and no other. */
  public record DeadMessageId(MessageId id, long version) {}

  /** All topics. */
  public TopicSurvey survey() {
    return redis.ask(connection -> TopicSurvey.of(connection, slots));
  }

  /** One topic, as in the survey. */
  public TopicSurvey.TopicSummary survey(String topic) {
    TopicSurvey.TopicSummary of = redis.ask(connection -> TopicSurvey.of(connection, slots, topic));
    if (of == null) {
      throw unknown(topic);
    }
    return of;
  }

  private TopicDefinition definition(String topic) {
    MessageId.checkTopic(topic);
    DefinedTopic found =
        redis
            .ask(
                connection ->
                    Optional.ofNullable(DefinedTopic.find(connection, slots.namespace(), topic)))
            .orElseGet(() -> kept(topic)); // Redis may have lost it
    return found.definition();
  }

  /** A topic as MySQL has it. */
  private DefinedTopic kept(String topic) {
    MessageId.checkTopic(topic);
    DefinedTopic kept = table().find(topic);
    if (kept == null) {
      throw unknown(topic);
    }
    return kept;
  }

  private TopicTable table() {
    return new TopicTable(servers.mysql());
  }

  /** Tells consumers what MySQL has by now; they read it in Redis. */
  private DefinedTopic put(DefinedTopic changed) {
    redis.run(of -> DefinedTopic.put(of, slots.namespace(), List.of(changed)));
    return changed;
  }

  private GameQueueException unknown(String topic) {
    return new GameQueueException(
        "namespace %s has no topic '%s': 'gameq-writer topics' lists them"
            .formatted(slots.namespace(), Shown.text(topic)));
  }

  /**
   * A page of messages.
   *
   * @param after what the page before it gave as next; empty for the first
   * @param most messages, 1 to {@link #MOST_MESSAGES}
   * @param withPayloads whether to show payloads; that is in the audit log then
   */
  public Messages.MessagePage page(
      String topic, Messages.MessageState state, String after, int most, boolean withPayloads) {
    TopicDefinition definition = definition(topic);
    if (withPayloads) {
      audit("topic show", topic, Shown.lower(state) + " messages with payloads");
    }
    return redis.ask(
        connection ->
            new Messages(connection, definition, slots, withPayloads)
                .read(state, after, Math.min(most, MOST_MESSAGES), RedisClock.now(connection)));
  }

  /**
   * Where a message is, and what will happen next.
   *
   * @param withPayload whether to show its payloads; that is in the audit log then
   */
  public MessageTrace trace(String topic, @Nullable String group, String key, boolean withPayload) {
    TopicDefinition definition = definition(topic);
    MessageId id = MessageId.of(topic, group, key);
    if (withPayload) {
      audit("topic show", target(id), "with payload");
    }
    return redis.ask(connection -> trace(connection, definition, id, withPayload));
  }

  private MessageTrace trace(
      RedisConnection connection, TopicDefinition definition, MessageId id, boolean withPayload) {
    FoundMessage found = TopicMessages.find(connection, slot(definition, id), id);
    long nowMillis = RedisClock.now(connection);
    DefinedTopic of = DefinedTopic.find(connection, slots.namespace(), id.topic());
    Pause pause = of == null ? null : of.pause();
    long ahead = found.pending() == null ? 0 : ahead(connection, definition, id);
    return new MessageTrace(
        id.topic(),
        id.group(),
        id.key(),
        slot(definition, id).slot(),
        Messages.MessageView.of(found, withPayload),
        ahead,
        MessageNextStep.of(found, definition, pause, ahead, nowMillis),
        nowMillis);
  }

  private long ahead(RedisConnection connection, TopicDefinition definition, MessageId id) {
    if (id.group() == null) {
      return 0;
    }
    List<TopicMessages.ListedMessage> group =
        TopicMessages.page(connection, slot(definition, id), id, 0, MessageTrace.MOST_AHEAD);
    long ahead = 0;
    while (ahead < group.size() && !group.get((int) ahead).id().equals(id)) {
      ahead++;
    }
    return ahead;
  }

  private SlotKeys slot(TopicDefinition definition, MessageId id) {
    return slots.get(id.slot(Math.min(definition.slots(), slots.count())));
  }

  /**
   * Pauses a topic; of one that is paused already reason and time change. Consumers take nothing of
   * it then, within about a second; what is held is finished.
   *
   * @param reason as {@link Pauses#reason} wants it
   */
  public Pause pause(String topic, String reason) {
    String why = Pauses.reason(reason, topic);
    definition(topic);
    audit("topic pause", topic, why);
    return Objects.requireNonNull(put(table().pause(topic, why, actor.who())).pause());
  }

  /** Ends the pause of a topic; returns it, or null when it was not paused. */
  public @Nullable Pause resume(String topic) {
    Pause pause = kept(topic).pause();
    if (pause != null) {
      audit("topic resume", topic, "was paused by %s: %s".formatted(pause.who(), pause.reason()));
      DefinedTopic unused = put(table().resume(topic));
    }
    return pause;
  }

  /**
   * Has all consumers of a topic together take at most so many messages a second, within about a
   * second; of one that has a rate already it is another one.
   *
   * @param reason as {@link Pauses#reason} wants it
   */
  public Rate rate(String topic, double perSecond, String reason) {
    Rate.check(perSecond);
    String why = Pauses.reason(reason, topic);
    definition(topic);
    audit("topic rate", topic, "%s a second: %s".formatted(TopicText.number(perSecond), why));
    return Objects.requireNonNull(put(table().rate(topic, perSecond, why, actor.who())).rate());
  }

  /** Ends the rate of a topic; returns it, or null when it had none. */
  public @Nullable Rate endRate(String topic) {
    Rate rate = kept(topic).rate();
    if (rate != null) {
      audit("topic rate end", topic, "was " + TopicText.rate(rate));
      DefinedTopic unused = put(table().endRate(topic));
    }
    return rate;
  }

  /**
   * Removes a topic in which there is nothing, with its pause and rate. What a node publishes that
   * has it open still waits until somebody defines the topic again.
   *
   * @throws GameQueueException when it has messages, naming how many, or cannot be read
   */
  public void remove(String topic) {
    DefinedTopic unused = kept(topic);
    requireEmpty(topic);
    audit("topic remove", topic, "");
    table().remove(topic);
    boolean unusedReply =
        redis.call(connection -> DefinedTopic.remove(connection, slots.namespace(), topic));
  }

  private void requireEmpty(String topic) {
    TopicSurvey.TopicSummary of = redis.ask(connection -> TopicSurvey.of(connection, slots, topic));
    if (of != null && !of.error().isEmpty()) {
      throw new GameQueueException(of.error());
    }
    TopicCounts counts = of == null ? TopicCounts.NONE : of.counts();
    if (counts.pending() + counts.held() + counts.dead() > 0) {
      throw new GameQueueException(
          ("topic %s is not empty: %s pending, %s held, %s dead letters; have them handled, or"
                  + " discard them")
              .formatted(topic, counts.pending(), counts.held(), counts.dead()));
    }
  }

  /** What a topic is, by MySQL. */
  public TopicDefinition options(String topic) {
    return kept(topic).definition();
  }

  /**
   * What a topic would be with other options; nothing is changed.
   *
   * @param changes by the names of {@link TopicDefinition#members}
   * @throws GameQueueException when one is not known or out of range, or says where messages lie,
   *     how they are sorted and whose they are, and there are some
   */
  public TopicDefinition options(TopicDefinition from, Map<String, String> changes) {
    TopicDefinition to = from.with(changes, slots.count());
    if (from.slots() != to.slots()
        || from.ageMillis() != to.ageMillis()
        || from.hasOwners() != to.hasOwners()) {
      requireEmpty(from.topic());
    }
    return to;
  }

  /**
   * Has a topic be another one. Nodes that have it open go on with what they opened it with.
   *
   * @throws GameQueueException when somebody else has changed it meanwhile
   */
  public void change(TopicDefinition from, TopicDefinition to) {
    audit("topic options", to.topic(), String.join(", ", to.changes(from).values()));
    DefinedTopic unused = put(table().options(from, to));
  }

  /** The dead letters of these keys; those that have none are left out. */
  public List<DeadMessageId> dead(String topic, @Nullable String group, List<String> keys) {
    TopicDefinition definition = definition(topic);
    return keys.stream()
        .map(key -> MessageId.of(topic, group, key))
        .map(id -> redis.ask(of -> TopicMessages.find(of, slot(definition, id), id)))
        .flatMap(Topics::deadName)
        .toList();
  }

  /** All dead letters of a topic. */
  public List<DeadMessageId> dead(String topic) {
    Set<DeadMessageId> found = new LinkedHashSet<>(); // a scan may show one twice
    for (SlotKeys slot : TopicSurvey.slots(definition(topic), slots)) {
      redis.ask(
          connection -> {
            TopicMessages.eachDead(
                connection,
                slot,
                topic,
                of -> {
                  deadName(of).forEach(found::add);
                  return true;
                });
            return true;
          });
    }
    return List.copyOf(found);
  }

  private static Stream<DeadMessageId> deadName(FoundMessage of) {
    return Stream.ofNullable(of.dead())
        .map(dead -> new DeadMessageId(of.id(), MessageValue.version(dead.value())));
  }

  /**
   * Has dead letters handled again, at once, with all their attempts.
   *
   * @param payload of each in place of its own; null for the same. It is not in the audit log
   * @param told what became of each
   */
  public void retry(
      String topic,
      List<DeadMessageId> names,
      byte @Nullable [] payload,
      Consumer<ActionResult> told) {
    TopicDefinition definition = definition(topic);
    if (payload != null && payload.length > definition.maxPayloadBytes()) {
      throw new GameQueueException(
          Shown.line(
              "the payload takes %,d bytes, the limit of topic %s is %,d",
              payload.length, topic, definition.maxPayloadBytes()));
    }
    audit(
        "topic retry",
        target(topic, names),
        Shown.count(names.size(), "dead letter") + (payload == null ? "" : ", another payload"));
    for (DeadMessageId of : names) {
      Retried retried =
          redis.call(
              connection ->
                  TopicMessages.retryDead(
                      connection, slot(definition, of.id), of.id, of.version, payload));
      told.accept(
          switch (retried) {
            case RETRIED -> done(of, Resolution.DONE, "due now", "");
            case GONE -> done(of, Resolution.GONE, LEFT, NEWER);
            case OVERTAKEN ->
                done(of, Resolution.LEFT, LEFT, "a newer message of this key is pending or held");
          });
    }
  }

  /** Removes dead letters for good; tells what became of each. */
  public void discard(String topic, List<DeadMessageId> names, Consumer<ActionResult> told) {
    TopicDefinition definition = definition(topic);
    audit("topic discard", target(topic, names), Shown.count(names.size(), "dead letter"));
    for (DeadMessageId of : names) {
      boolean discarded =
          redis.call(
              connection ->
                  TopicMessages.discardDead(
                      connection, slot(definition, of.id), of.id, of.version));
      told.accept(
          discarded
              ? done(of, Resolution.DONE, "discarded", "")
              : done(of, Resolution.GONE, LEFT, NEWER));
    }
  }

  private static ActionResult done(DeadMessageId of, Resolution result, String became, String why) {
    return new ActionResult(0, TopicText.name(of.id.group(), of.id.key()), result, became, why);
  }

  private void audit(String action, String target, String detail) {
    AuditTable.add(servers.mysql(), actor, action, target, detail);
  }

  /** A message, as the audit log names it: {@code building: 42}, {@code building: 42 of p:7}. */
  public static String target(MessageId id) {
    return id.topic() + ": " + name(id);
  }

  private static String target(String topic, List<DeadMessageId> names) {
    return topic + ": " + names.stream().map(of -> name(of.id())).collect(Collectors.joining(", "));
  }

  private static String name(MessageId id) {
    return id.key() + (id.group() == null ? "" : " of " + id.group());
  }

  /**
   * Where one message is: it can be held, pending and dead at a time, in different versions.
   * Immutable.
   *
   * @param group null when it has none
   * @param slot of the namespace that it lies in
   * @param places nothing when it is nowhere
   * @param ahead how many of its group are handled before it; at most {@link #MOST_AHEAD}
   * @param nowMillis when it was looked for, Redis TIME in ms
   */
  public record MessageTrace(
      String topic,
      @Nullable String group,
      String key,
      int slot,
      List<Messages.MessageView> places,
      long ahead,
      MessageNextStep next,
      long nowMillis) {
    /** Of a group, so many are looked at. */
    static final int MOST_AHEAD = 1_000;
  }

  /**
   * What will happen to a message next, in one sentence. Immutable.
   *
   * @param isToAct whether somebody has to do something
   * @param sentence with what is to be done, if anything is
   */
  public record MessageNextStep(boolean isToAct, String sentence) {
    /** A message that is due for longer is not being looked at. */
    static final long LATE_MILLIS = 5_000;

    /**
     * Decides.
     *
     * @param ahead how many of its group are handled before it, at least
     */
    static MessageNextStep of(
        FoundMessage found,
        TopicDefinition topic,
        DefinedTopic.@Nullable Pause pause,
        long ahead,
        long nowMillis) {
      FoundMessage.Version held = found.held();
      FoundMessage.Version pending = found.pending();
      FoundMessage.Version dead = found.dead();
      if (held != null) {
        return held(held, topic, pending != null, nowMillis);
      }
      if (pending != null) {
        if (pause == null) {
          return pending(pending, ahead, nowMillis);
        }
        Instant since = Instant.ofEpochMilli(pause.sinceMillis());
        return next(
            true,
            "the topic is paused by %s since %s UTC (%s): it waits until 'gameq-writer topics"
                + " resume %s'.",
            pause.who(),
            since,
            pause.reason(),
            topic.topic());
      }
      return dead == null
          ? next(
              true,
              "nothing: there is no message of this key. It was handled or deleted, or never"
                  + " published.")
          : next(
              true,
              "nothing: it failed %s and is set aside. Mend the cause, then 'gameq-writer topics"
                  + " dead retry %s', or discard it.",
              Shown.count(dead.attempts(), "time"),
              topic.topic());
    }

    private static MessageNextStep next(boolean isToAct, String format, Object... arguments) {
      return new MessageNextStep(isToAct, Shown.line(format, arguments));
    }

    private static MessageNextStep held(
        FoundMessage.Version of, TopicDefinition topic, boolean more, long nowMillis) {
      String after = more ? "; a newer message of this key is handled after it" : "";
      long left = of.millis() - nowMillis;
      if (left >= 0) {
        String attempt = "attempt %s of %s".formatted(of.attempts(), topic.mostAttempts());
        return next(
            false,
            "node %s handles it, %s; if it neither ends nor extends its lease, another has it in"
                + " %s%s.",
            of.node(),
            attempt,
            Shown.duration(left),
            after);
      }
      boolean isLate = -left > LATE_MILLIS;
      return next(
          isLate,
          "the lease of node %s ran out %s ago: the next consumer that looks has it handled again"
              + "%s%s",
          of.node(),
          Shown.duration(-left),
          after,
          isLate ? "; does a node subscribe to the topic?" : ".");
    }

    private static MessageNextStep pending(FoundMessage.Version of, long ahead, long nowMillis) {
      String times = Shown.count(of.attempts(), "time");
      String failed =
          of.error().isEmpty()
              ? ""
              : of.attempts() == 0
                  ? "it was put off: " + of.error() + "; "
                  : "it failed " + times + ", at last with: " + of.error() + "; ";
      String group = ahead == 0 ? "" : ", after " + Shown.count(ahead, "message") + " of its group";
      long late = nowMillis - of.millis();
      String time = Shown.duration(Math.abs(late));
      if (late < 0) {
        return next(false, "%sdue in %s: a consumer takes it then%s.", failed, time, group);
      }
      return late <= LATE_MILLIS
          ? next(false, "%sdue now: the next consumer takes it%s.", failed, group)
          : next(
              true,
              "%sdue since %s and not taken%s: does a node subscribe to the topic, and keep up?",
              failed,
              time,
              group);
    }
  }
}
