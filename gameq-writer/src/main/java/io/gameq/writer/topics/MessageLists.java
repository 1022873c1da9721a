package io.gameq.writer.topics;

import io.gameq.GameQueueException;
import io.gameq.redis.ControlConnection.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.topic.TopicDefinition;
import io.gameq.redis.topic.TopicMessages;
import io.gameq.redis.topic.TopicMessages.FoundMessage;
import io.gameq.redis.topic.TopicMessages.Place;
import io.gameq.redis.topic.TopicSurvey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** Reads the messages of a topic in pages. Used by one thread. */
final class MessageLists {
  private final RedisConnection redis;
  private final TopicDefinition topic;
  private final List<SlotKeys> slots;
  private final boolean withPayloads;

  /**
   * Those of a topic.
   *
   * @param redis a connection that no other thread uses meanwhile
   * @param withPayloads whether to show payloads; who asks for them audits it before
   */
  MessageLists(RedisConnection redis, TopicDefinition topic, Slots slots, boolean withPayloads) {
    this.redis = redis;
    this.topic = topic;
    this.slots = TopicSurvey.slots(topic, slots);
    this.withPayloads = withPayloads;
  }

  /**
   * Where a page begins.
   *
   * @param place in the slot: how many were shown, or the id of the dead one that was the last
   */
  private record Start(int slot, String place) {
    static Start of(String text) {
      if (text.isEmpty()) {
        return new Start(0, "");
      }
      String[] words = text.split("/", 2);
      if (words.length < 2 || !words[0].matches("\\d{1,4}")) {
        throw unknown();
      }
      return new Start(Integer.parseInt(words[0]), words[1]);
    }

    long offset() {
      if (!place.matches("\\d{0,12}")) {
        throw unknown();
      }
      return place.isEmpty() ? 0 : Long.parseLong(place);
    }

    static String text(int slot, Object place) {
      return slot + "/" + place;
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
    Start start = Start.of(after);
    List<ListedMessage> page = new ArrayList<>();
    for (int slot = start.slot(); slot < slots.size(); slot++) {
      Start from = slot == start.slot() ? start : new Start(slot, "");
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
      MessageState state, Start from, int most, long nowMillis, List<ListedMessage> page) {
    Place place =
        switch (state) {
          case HELD -> Place.HELD;
          case READY -> topic.ageMillis() > 0 ? Place.READY : Place.DUE;
          default -> Place.DUE;
        };
    long offset = from.offset();
    while (true) {
      int asked = Math.min(TopicMessages.MOST, most - page.size() + 1); // one more tells of a next
      List<TopicMessages.Listed> found =
          TopicMessages.page(redis, slots.get(from.slot()), topic.topic(), place, offset, asked);
      for (TopicMessages.Listed of : found) {
        if (state == MessageState.READY && place == Place.DUE && of.millis() > nowMillis) {
          return "";
        }
        if (page.size() == most) {
          return Start.text(from.slot(), offset);
        }
        page.add(
            ListedMessage.of(
                of, state, place == Place.READY ? topic.ageMillis() : 0, withPayloads));
        offset++;
      }
      if (found.size() < asked) {
        return "";
      }
    }
  }

  /** By id, so that a page begins at the same place whatever was discarded meanwhile. */
  private String dead(Start from, int most, List<ListedMessage> page) {
    int room = most - page.size() + 1; // one more tells of a next
    NavigableMap<String, ListedMessage> first = new TreeMap<>();
    TopicMessages.eachDead(
        redis,
        slots.get(from.slot()),
        topic.topic(),
        of -> {
          if (of.id().id().compareTo(from.place()) > 0) {
            addDead(first, of);
          }
          if (first.size() > room) {
            first.pollLastEntry();
          }
          return true;
        });
    String last = from.place();
    for (Map.Entry<String, ListedMessage> of : first.entrySet()) {
      if (page.size() == most) {
        return Start.text(from.slot(), last);
      }
      page.add(of.getValue());
      last = of.getKey();
    }
    return "";
  }

  private void addDead(Map<String, ListedMessage> to, FoundMessage of) {
    FoundMessage.Dead dead = of.dead();
    if (dead != null) {
      to.put(of.id().id(), ListedMessage.of(of.id(), dead, withPayloads));
    }
  }
}
