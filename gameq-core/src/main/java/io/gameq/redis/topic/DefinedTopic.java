package io.gameq.redis.topic;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.gameq.GameQueueException;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import io.gameq.rows.Table.SimilarNames;
import io.gameq.sign.SignFields;
import io.gameq.topic.Retry;
import io.gameq.topic.TopicOptions;
import java.io.IOException;
import java.io.StringWriter;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A topic as MySQL has it, and Redis a copy: what it is, whether it is paused, and how fast it is
 * taken from. Immutable. Redis holds those of a namespace in {@code ns:topics}, so that consumers
 * need not ask MySQL; one that is missing is put back.
 *
 * @param revision rises with each change
 * @param pause null when it is not paused
 * @param rate of all nodes together; null when it has none
 */
public record DefinedTopic(
    long revision, TopicDefinition definition, @Nullable Pause pause, @Nullable Rate rate) {
  private static final JsonFactory JSON = new JsonFactory();
  private static final LuaScript DEFINE = LuaScript.of(DefinedTopic.class, "define.lua");

  /** In one call of the script. */
  private static final int MOST_AT_ONCE = 200;

  /** Characters of the revision in {@link #text}. */
  private static final int REVISION = 16;

  /**
   * Consumers take nothing of the topic; what is held is finished.
   *
   * @param sinceMillis by MySQL's clock
   * @param who paused it
   */
  public record Pause(long sinceMillis, String who, String reason) {}

  /**
   * All nodes together take at most so many messages a second; {@link ConsumerScripts#grant} shares
   * them out.
   *
   * @param sinceMillis by MySQL's clock
   * @param who set it
   */
  public record Rate(double perSecond, long sinceMillis, String who, String reason) {
    /** Lowest and highest: an hour a message, and more than a Redis has. */
    private static final double LEAST = 1.0 / 3600;

    private static final double MOST = 1_000_000;

    /**
     * Throws GameQueueException when a rate is out of range.
     *
     * @param perSecond messages a second of all nodes
     */
    public static void check(double perSecond) {
      if (!(perSecond >= LEAST && perSecond <= MOST)) {
        throw new GameQueueException(
            String.format(
                Locale.ROOT,
                "the rate of a topic must be from one message an hour (%.6f) to %,.0f a second: %s",
                LEAST,
                MOST,
                perSecond));
      }
    }
  }

  public String topic() {
    return definition.topic();
  }

  /** The same topic, paused and at a rate or not. */
  public DefinedTopic with(@Nullable Pause newPause, @Nullable Rate newRate) {
    return new DefinedTopic(revision, definition, newPause, newRate);
  }

  /** The same topic, with other options. */
  public DefinedTopic with(TopicDefinition newDefinition) {
    return new DefinedTopic(revision, newDefinition, pause, rate);
  }

  /** The same in another revision. */
  public DefinedTopic ofRevision(long newRevision) {
    return new DefinedTopic(newRevision, definition, pause, rate);
  }

  /** Messages a second that all nodes together may take; 0: any. */
  public double perSecond() {
    return rate == null ? 0 : rate.perSecond;
  }

  /** As MySQL holds it beside the revision: one line of JSON. */
  public String json() {
    Map<String, Object> all = definition.members();
    all.values().removeIf(Boolean.FALSE::equals);
    if (pause != null) {
      all.put("pausedMillis", pause.sinceMillis);
      all.put("pausedBy", pause.who);
      all.put("pauseReason", pause.reason);
    }
    if (rate != null) {
      all.put("perSecond", rate.perSecond);
      all.put("rateMillis", rate.sinceMillis);
      all.put("rateBy", rate.who);
      all.put("rateReason", rate.reason);
    }
    StringWriter text = new StringWriter();
    try (JsonGenerator to = JSON.createGenerator(text)) {
      to.writeStartObject();
      for (Map.Entry<String, Object> member : all.entrySet()) {
        to.writeObjectField(member.getKey(), member.getValue());
      }
      to.writeEndObject();
    } catch (IOException e) {
      throw new IllegalStateException(e); // it writes into memory
    }
    return text.toString();
  }

  /** As Redis holds it: {@code revision JSON}, the revision as 16 hex digits. */
  String text() {
    return "%016x %s".formatted(revision, json());
  }

  /** Reads {@link #text}; throws GameQueueException when it is not such text. */
  static DefinedTopic ofText(String topic, String text) {
    try {
      return of(
          topic,
          Long.parseUnsignedLong(text.substring(0, REVISION), 16),
          text.substring(REVISION + 1));
    } catch (IndexOutOfBoundsException | NumberFormatException e) {
      throw unreadable(topic, e);
    }
  }

  /**
   * Reads {@link #json}; members that are not known are left out.
   *
   * @throws GameQueueException when it is not such JSON
   */
  public static DefinedTopic of(String topic, long revision, String json) {
    Map<String, String> members = new HashMap<>();
    try (JsonParser from = JSON.createParser(json)) {
      from.nextToken();
      while (from.nextToken() == JsonToken.FIELD_NAME) {
        String name = from.currentName();
        from.nextToken();
        members.put(name, from.getText());
        from.skipChildren();
      }
      Pause pause =
          !members.containsKey("pausedMillis")
              ? null
              : new Pause(
                  Long.parseLong(text(members, "pausedMillis")),
                  text(members, "pausedBy"),
                  text(members, "pauseReason"));
      Rate rate =
          !members.containsKey("perSecond")
              ? null
              : new Rate(
                  Double.parseDouble(text(members, "perSecond")),
                  Long.parseLong(text(members, "rateMillis")),
                  text(members, "rateBy"),
                  text(members, "rateReason"));
      return new DefinedTopic(revision, TopicDefinition.of(topic, members), pause, rate);
    } catch (IOException | NumberFormatException e) {
      throw unreadable(topic, e);
    }
  }

  private static String text(Map<String, String> members, String name) {
    return members.getOrDefault(name, "");
  }

  private static GameQueueException unreadable(String topic, Exception why) {
    return new GameQueueException("the definition of topic '" + topic + "' cannot be read", why);
  }

  // --- in Redis

  /**
   * Puts topics as MySQL has them, however late: what Redis has in a newer revision stays. Also at
   * {@code maxmemory}.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; some may be put then
   */
  public static void put(RedisConnection redis, String namespace, Collection<DefinedTopic> topics) {
    for (List<DefinedTopic> some : LuaScript.pieces(List.copyOf(topics), MOST_AT_ONCE)) {
      DEFINE.call(
          redis,
          key(namespace),
          some.stream().map(of -> List.of(of.topic(), LuaScript.utf8(of.text()))).toList());
    }
  }

  /**
   * Removes the definition of a topic and none of its messages; returns whether it was there.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static boolean remove(RedisConnection redis, String namespace, String topic) {
    return RedisReply.await(() -> redis.sync().hdel(key(namespace), SlotKeys.bytes(topic))) > 0;
  }

  /**
   * One topic; null when Redis has none of that name.
   *
   * @throws io.gameq.GameQueueException when it cannot be read
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static @Nullable DefinedTopic find(RedisConnection redis, String namespace, String topic) {
    byte[] text = RedisReply.await(() -> redis.sync().hget(key(namespace), SlotKeys.bytes(topic)));
    return text == null ? null : ofText(topic, LuaScript.text(text));
  }

  /**
   * All topics, by name.
   *
   * @throws io.gameq.GameQueueException when one cannot be read
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static Map<String, DefinedTopic> all(RedisConnection redis, String namespace) {
    Map<String, DefinedTopic> all = new TreeMap<>();
    texts(redis, namespace).forEach((topic, text) -> all.put(topic, ofText(topic, text)));
    return all;
  }

  /** As Redis holds them, by topic. Throws RedisUnavailableException. */
  static Map<String, String> texts(RedisConnection redis, String namespace) {
    Map<String, String> all = new TreeMap<>();
    RedisReply.await(() -> redis.sync().hgetall(key(namespace)))
        .forEach((name, text) -> all.put(LuaScript.string(name), LuaScript.text(text)));
    return all;
  }

  private static byte[] key(String namespace) {
    return SlotKeys.bytes(namespace + ":topics");
  }

  /**
   * What a topic is: the same on all nodes. Immutable.
   *
   * @param slots a power of two, at most those of the namespace
   * @param ageMillis by how much of being due earlier one step of priority counts; 0 for a topic
   *     without priorities
   * @param maxPayloadBytes of a payload
   * @param mostAttempts of a message until it is a dead letter
   * @param leaseMillis how long a handler has
   * @param windowMillis the merge window of messages that do not say when they are due
   * @param backoff between attempts, for operators, and to compare: {@code "1s 2s 4s jitter"}
   * @param hasOwners whether each message belongs to an owner and is handled where that is open
   */
  public record TopicDefinition(
      String topic,
      int slots,
      long ageMillis,
      int maxPayloadBytes,
      int mostAttempts,
      long leaseMillis,
      long windowMillis,
      String backoff,
      boolean hasOwners) {
    /** Enough that a script holds Redis for little; each costs a command a second when idle. */
    private static final int DEFAULT_SLOTS = 16;

    /**
     * The definition of a topic with these options.
     *
     * @param slots of the namespace
     * @throws GameQueueException when the topic is to have more slots than the namespace
     */
    public static TopicDefinition of(String topic, TopicOptions options, int slots) {
      if (options.slots() > slots) {
        throw new GameQueueException(
            "topic '%s' cannot have %s slots: the namespace has %s"
                .formatted(topic, options.slots(), slots));
      }
      Retry retry = options.retry();
      return new TopicDefinition(
          topic,
          options.slots() == 0 ? Math.min(DEFAULT_SLOTS, slots) : options.slots(),
          options.ageing().toMillis(),
          options.payloadBytes(),
          retry.attempts(),
          options.lease().toMillis(),
          options.window().toMillis(),
          retry.delays().stream().map(TopicDefinition::text).collect(Collectors.joining(" "))
              + (retry.jitter() ? " jitter" : ""),
          options.hasOwners());
    }

    /** Throws GameQueueException, showing what differs, when it is not what is kept. */
    public void requireSameAs(TopicDefinition kept) {
      if (!kept.equals(this)) {
        Map<String, String> changes = changes(kept);
        String set =
            changes.keySet().stream()
                .map(name -> " --set '%s=%s'".formatted(name, members().get(name)))
                .collect(Collectors.joining());
        throw new GameQueueException(
            ("topic '%s' is defined differently in MySQL: there -> here: %s. Use the same options"
                    + " on all nodes; what is kept is changed by: gameq-writer topics options %s%s")
                .formatted(topic, String.join(", ", changes.values()), topic, set));
      }
    }

    /** The options by the names that MySQL and {@code topics options} have for them. */
    public Map<String, Object> members() {
      Map<String, Object> all = SignFields.values(this);
      all.remove("topic");
      return all;
    }

    /** What differs from another one's, as {@code leaseMillis 30000 -> 60000}, by option. */
    public Map<String, String> changes(TopicDefinition from) {
      Map<String, String> changes = new LinkedHashMap<>();
      Map<String, Object> before = from.members();
      members()
          .forEach(
              (name, value) -> {
                if (!value.equals(before.get(name))) {
                  changes.put(name, "%s %s -> %s".formatted(name, before.get(name), value));
                }
              });
      return changes;
    }

    /**
     * The same with some options changed.
     *
     * @param changes by the names of {@link #members}
     * @param namespaceSlots of the namespace
     * @throws GameQueueException naming an option that is not known, or out of range
     */
    public TopicDefinition with(Map<String, String> changes, int namespaceSlots) {
      Map<String, String> all = new LinkedHashMap<>();
      members().forEach((name, value) -> all.put(name, value.toString()));
      changes.forEach(
          (name, value) -> {
            if (all.replace(name, value) == null) {
              throw new GameQueueException(
                  "a topic has no option '%s'%s"
                      .formatted(name, SimilarNames.hint(name, all.keySet())));
            }
          });
      try {
        return of(topic, of(topic, all).options(), namespaceSlots);
      } catch (NumberFormatException e) {
        throw new GameQueueException("not a number: " + e.getMessage(), e);
      }
    }

    private static String text(Duration delay) {
      return delay.toMillis() % 1000 == 0 ? delay.toMillis() / 1000 + "s" : delay.toMillis() + "ms";
    }

    /**
     * Options with which {@link #of} defines the topic the same.
     *
     * @throws GameQueueException when somebody has written what cannot be read
     */
    public TopicOptions options() {
      List<String> words = List.of(backoff.split(" "));
      boolean jitter = words.get(words.size() - 1).equals("jitter");
      List<Duration> delays =
          words.subList(0, words.size() - (jitter ? 1 : 0)).stream()
              .map(TopicDefinition::delay)
              .toList();
      return new TopicOptions(
          slots,
          maxPayloadBytes,
          Duration.ofMillis(ageMillis),
          Duration.ofMillis(windowMillis),
          Duration.ofMillis(leaseMillis),
          new Retry(delays, jitter, mostAttempts),
          hasOwners);
    }

    private static Duration delay(String text) {
      try {
        return text.endsWith("ms")
            ? Duration.ofMillis(Long.parseLong(text.substring(0, text.length() - 2)))
            : Duration.ofSeconds(Long.parseLong(text.substring(0, text.length() - 1)));
      } catch (RuntimeException e) { // whatever somebody has written there
        throw new GameQueueException("the back-off of a topic cannot be read: '" + text + "'", e);
      }
    }

    /** For a person to read: one line of JSON. */
    public String json() {
      return new DefinedTopic(0, this, null, null).json();
    }

    /** Throws NumberFormatException. */
    static TopicDefinition of(String topic, Map<String, String> members) {
      return new TopicDefinition(
          topic,
          (int) number(members, "slots"),
          number(members, "ageMillis"),
          (int) number(members, "maxPayloadBytes"),
          (int) number(members, "mostAttempts"),
          number(members, "leaseMillis"),
          number(members, "windowMillis"),
          members.getOrDefault("backoff", ""),
          Boolean.parseBoolean(members.get("hasOwners")));
    }

    private static long number(Map<String, String> members, String name) {
      return Long.parseLong(members.getOrDefault(name, "0"));
    }
  }
}
