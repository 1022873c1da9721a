package io.gameq.writer.admin;

import io.gameq.GameQueueException;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.message.PayloadText;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.redis.topic.TopicMessages;
import io.gameq.redis.topic.TopicMessages.FoundMessage;
import io.gameq.redis.topic.TopicMessages.Place;
import io.gameq.redis.topic.TopicMessages.TopicSurvey;
import io.gameq.terminal.Shown;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Reads the messages of a topic in pages. Used by one thread. */
public final class Messages {
  /** A handler's error may be a long one. */
  private static final int MOST_ERROR_CHARS = 100;

  private final RedisConnection redis;
  private final TopicDefinition topic;
  private final List<SlotKeys> slots;
  private final boolean withPayloads;

  /**
   * Those of a topic.
   *
   * @param redis a connection that no other thread uses meanwhile
   * @param withPayloads whether to show payloads; the caller audits it before
   */
  Messages(RedisConnection redis, TopicDefinition topic, Slots slots, boolean withPayloads) {
    this.redis = redis;
    this.topic = topic;
    this.slots = TopicSurvey.slots(topic, slots);
    this.withPayloads = withPayloads;
  }

  /** In which list of a topic messages are looked for. */
  public enum MessageState {
    /** They wait, for their time or for a handler; of a group the one that is next. */
    PENDING("DUE", "due"),
    /** Those of them that are taken next: of a topic with priorities in that order. */
    READY("DUE", "due"),
    /** Due, of owners whose messages nobody handles. */
    UNHANDLED("DUE", "due"),
    /** A handler has them. */
    HELD("LEASE ENDS", "leaseEnds"),
    /** Set aside. */
    DEAD("DIED (UTC)", "died");

    private final String heading;
    private final String moment;

    MessageState(String heading, String moment) {
      this.heading = heading;
      this.moment = moment;
    }

    /** Reads a name; throws GameQueueException when it is none. */
    public static MessageState of(String name) {
      try {
        return valueOf(name.toUpperCase(Locale.ROOT));
      } catch (IllegalArgumentException e) {
        throw new GameQueueException("a state is pending, ready, unhandled, held or dead");
      }
    }
  }

  /**
   * Some messages of a topic, slot after slot; in a slot by their times, dead ones by their ids.
   * Immutable.
   *
   * @param next goes on where this page ends; empty when it was the last
   * @param nowMillis when it was read, Redis TIME in ms
   */
  public record MessagePage(List<MessageView> messages, String next, long nowMillis) {}

  /**
   * One message, as lists and traces show it. Immutable.
   *
   * @param group null when it has none
   * @param millis when it is due, its lease ends, or it died, Redis TIME in ms; of one that is
   *     sorted in by priority when it was due
   * @param behind how many of its group wait behind it, where that is known
   * @param attempts that failed; of one that is held this one counted
   * @param node that holds it, else empty
   * @param error of a dead one, or of the last attempt of one that is tried again; else empty
   * @param content null when its value was removed meanwhile, or cannot be read
   */
  public record MessageView(
      @Nullable String group,
      String key,
      MessageState state,
      long millis,
      long behind,
      int attempts,
      String node,
      String error,
      @Nullable Content content) {

    /** The places of one message: held, pending and dead, in different versions. */
    static List<MessageView> of(FoundMessage of, boolean withPayload) {
      List<MessageView> all = new ArrayList<>();
      add(all, of.id(), MessageState.HELD, of.held(), withPayload);
      add(all, of.id(), MessageState.PENDING, of.pending(), withPayload);
      add(all, of.id(), MessageState.DEAD, of.dead(), withPayload);
      return all;
    }

    private static void add(
        List<MessageView> to,
        MessageId id,
        MessageState state,
        FoundMessage.@Nullable Version of,
        boolean withPayload) {
      if (of != null) {
        to.add(
            new MessageView(
                id.group(),
                id.key(),
                state,
                of.millis(),
                0,
                of.attempts(),
                of.node(),
                of.error(),
                Content.of(of.value(), withPayload)));
      }
    }

    /** {@code 42}, {@code 42 of player:7}, as a terminal may show it. */
    public String name() {
      return TopicText.name(group, key);
    }

    /** What its value holds, where it is to be shown. */
    public @Nullable PayloadText payload() {
      return content == null ? null : content.payload;
    }
  }

  /**
   * What a value holds.
   *
   * @param version as text: a browser's numbers lose digits
   * @param sinceMillis when it was first published, Redis TIME in ms
   * @param schedule how it recurs; empty when it does not
   * @param payload null where it is not to be shown
   */
  public record Content(
      String version,
      long sinceMillis,
      int priority,
      String schedule,
      int payloadBytes,
      @Nullable PayloadText payload) {
    static @Nullable Content of(byte @Nullable [] value, boolean withPayload) {
      if (value == null) {
        return null;
      }
      try {
        MessageValue.Decoded of = MessageValue.decode(value);
        return new Content(
            Long.toUnsignedString(of.version()),
            of.sinceMillis(),
            of.priority(),
            of.schedule(),
            of.payload().length,
            withPayload ? PayloadText.of(of.payload()) : null);
      } catch (GameQueueException e) { // somebody else's value
        return null;
      }
    }
  }

  /** How messages in a state are shown; JSON objects say the same of each state. */
  public static RecordView<MessageView> view(MessageState state, long nowMillis) {
    return new RecordView<MessageView>()
        .field("KEY", "key", MessageView::key)
        .field("GROUP", "group", MessageView::group)
        .json("state", MessageView::state)
        .field(
            state.heading,
            state.moment,
            of -> Instant.ofEpochMilli(of.millis),
            of ->
                state == MessageState.DEAD
                    ? Shown.utc(Instant.ofEpochMilli(of.millis))
                    : relative(of.millis - nowMillis))
        .json("behind", MessageView::behind)
        .field("ATTEMPTS", "attempts", MessageView::attempts)
        .column("PRIORITY", of -> of.content == null ? "?" : Integer.toString(of.content.priority))
        .column("BYTES", of -> of.content == null ? "?" : Integer.toString(of.content.payloadBytes))
        .column(
            state == MessageState.HELD ? "NODE" : "BEHIND",
            of -> state == MessageState.HELD ? Shown.text(of.node) : Long.toString(of.behind))
        .json("node", of -> of.node.isEmpty() ? null : of.node)
        .field(
            "ERROR",
            "error",
            of -> of.error.isEmpty() ? null : of.error,
            of -> of.error.isEmpty() ? "-" : Shown.cut(of.error, MOST_ERROR_CHARS))
        .jsonOf(of -> of.content == null ? Map.of() : json(of.content))
        .leavingOut("BYTES", "PRIORITY", "GROUP");
  }

  private static Map<String, @Nullable Object> json(Content of) {
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("version", of.version);
    all.put("since", Instant.ofEpochMilli(of.sinceMillis).toString());
    all.put("priority", of.priority);
    all.put("schedule", of.schedule.isEmpty() ? null : of.schedule);
    all.put("payloadBytes", of.payloadBytes);
    PayloadText payload = of.payload;
    if (payload != null) {
      all.put("payloadForm", Shown.lower(payload.form()));
      all.put("payload", payload.text());
    }
    return all;
  }

  /** {@code 3.000 s ago}, {@code in 3.000 s}. */
  public static String relative(long millis) {
    return millis < 0 ? Shown.duration(-millis) + " ago" : "in " + Shown.duration(millis);
  }

  /**
   * Where a page begins.
   *
   * @param place in the slot: how many were shown, or the id of the dead one that was the last
   */
  private record PageStart(int slot, String place) {
    static PageStart of(String text) {
      if (text.isEmpty()) {
        return new PageStart(0, "");
      }
      String[] words = text.split("/", 2);
      if (words.length < 2 || !words[0].matches("\\d{1,4}")) {
        throw unknown();
      }
      return new PageStart(Integer.parseInt(words[0]), words[1]);
    }

    long offset() {
      if (!place.matches("\\d{0,12}")) {
        throw unknown();
      }
      return place.isEmpty() ? 0 : Long.parseLong(place);
    }

    private static GameQueueException unknown() {
      return new GameQueueException("a page begins where the page before it says that it ends");
    }
  }

  /**
   * A page.
   *
   * @param after what the page before it gave as next; empty for the first
   * @param most messages of the page, at least 1
   * @throws GameQueueException when {@code after} is nothing that a page gave
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  MessagePage read(MessageState state, String after, int most, long nowMillis) {
    PageStart start = PageStart.of(after);
    List<MessageView> page = new ArrayList<>();
    for (int slot = start.slot(); slot < slots.size(); slot++) {
      PageStart from = slot == start.slot() ? start : new PageStart(slot, "");
      String next =
          state == MessageState.DEAD
              ? dead(from, most, page)
              : listed(state, from, most, nowMillis, page);
      if (!next.isEmpty()) {
        return new MessagePage(page, next, nowMillis);
      }
    }
    return new MessagePage(page, "", nowMillis);
  }

  /** Adds what there is room for; returns where it goes on, empty when the slot is at its end. */
  private String listed(
      MessageState state, PageStart from, int most, long nowMillis, List<MessageView> page) {
    Place place =
        switch (state) {
          case HELD -> Place.HELD;
          case UNHANDLED -> Place.UNHANDLED;
          case READY -> topic.ageMillis() > 0 ? Place.READY : Place.DUE;
          default -> Place.DUE;
        };
    long offset = from.offset();
    while (true) {
      int asked = Math.min(TopicMessages.MOST, most - page.size() + 1); // one more tells of a next
      List<TopicMessages.ListedMessage> found =
          TopicMessages.page(redis, slots.get(from.slot()), topic.topic(), place, offset, asked);
      for (TopicMessages.ListedMessage of : found) {
        if (state == MessageState.READY && place == Place.DUE && of.millis() > nowMillis) {
          return "";
        }
        if (page.size() == most) {
          return from.slot() + "/" + offset;
        }
        page.add(listed(of, state, place == Place.READY ? topic.ageMillis() : 0));
        offset++;
      }
      if (found.size() < asked) {
        return "";
      }
    }
  }

  /** Sorted in by priority, a message says by how much it was put forward. */
  private MessageView listed(TopicMessages.ListedMessage of, MessageState state, long ageMillis) {
    Content content = Content.of(of.value(), withPayloads);
    long due = of.millis() + (content == null ? 0 : content.priority * ageMillis);
    MessageId id = of.id();
    return new MessageView(
        id.group(),
        id.key(),
        state,
        due,
        of.behind(),
        of.attempts(),
        of.node(),
        of.error(),
        content);
  }

  /** By id, so that a page begins at the same place whatever was discarded meanwhile. */
  private String dead(PageStart from, int most, List<MessageView> page) {
    int room = most - page.size() + 1; // one more tells of a next
    NavigableMap<String, MessageView> first = new TreeMap<>();
    TopicMessages.eachDead(
        redis,
        slots.get(from.slot()),
        topic.topic(),
        of -> {
          if (of.id().id().compareTo(from.place()) > 0) {
            MessageView.of(of, withPayloads).forEach(dead -> first.put(of.id().id(), dead));
          }
          if (first.size() > room) {
            first.pollLastEntry();
          }
          return true;
        });
    String last = from.place();
    for (Map.Entry<String, MessageView> of : first.entrySet()) {
      if (page.size() == most) {
        return from.slot() + "/" + last;
      }
      page.add(of.getValue());
      last = of.getKey();
    }
    return "";
  }
}
