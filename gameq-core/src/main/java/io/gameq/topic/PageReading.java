package io.gameq.topic;

import io.gameq.GameQueueException;
import io.gameq.Message;
import io.gameq.Message.State;
import io.gameq.Topic;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.topic.DeadMessages;
import io.gameq.redis.topic.FoundMessage;
import io.gameq.redis.topic.TopicDefinition;
import io.gameq.redis.topic.TopicReads;
import io.gameq.redis.topic.TopicReads.Place;
import java.util.ArrayList;
import java.util.List;

/** Reads a page of the messages of a topic, slot after slot. Used by one thread. */
final class PageReading<T> {
  private final TopicLook<T> look;
  private final SlotKeys[] slots;
  private final TopicDefinition definition;

  PageReading(TopicLook<T> look, SlotKeys[] slots, TopicDefinition definition) {
    this.look = look;
    this.slots = slots;
    this.definition = definition;
  }

  /** The lists of a slot in which messages of a state are; none for dead letters. */
  private static List<Place> places(State state) {
    return switch (state) {
      case PENDING -> List.of(Place.READY, Place.DUE);
      case HELD -> List.of(Place.HELD);
      case DEAD -> List.of();
    };
  }

  /** A page. Throws GameQueueException when it begins nowhere in the topic. */
  Topic.Page<T> read(RedisConnection redis, State state, PageStart from) {
    int lists = Math.max(1, places(state).size());
    if (from.slot() < 0
        || from.slot() >= definition.slots()
        || from.list() < 0
        || from.list() >= lists
        || from.offset() < 0) {
      throw new GameQueueException("not what a page of these messages gave as the next one");
    }
    List<Message<T>> page = new ArrayList<>();
    int list = from.list();
    long offset = from.offset();
    for (int slot = from.slot(); slot < definition.slots(); slot++) {
      for (; list < lists; list++) {
        int room = Topic.PAGE - page.size();
        int read =
            state == State.DEAD
                ? dead(redis, slots[slot], offset, page)
                : listed(redis, slots[slot], state, places(state).get(list), offset, page);
        if (read == room) {
          return new Topic.Page<>(page, new PageStart(slot, list, offset + read).text());
        }
        offset = 0;
      }
      list = 0;
    }
    return new Topic.Page<>(page, null);
  }

  /** Adds what there is room for; returns how many it read. */
  private int listed(
      RedisConnection redis,
      SlotKeys slot,
      State state,
      Place place,
      long offset,
      List<Message<T>> page) {
    List<TopicReads.Listed> listed =
        TopicReads.page(redis, slot, definition.topic(), place, offset, Topic.PAGE - page.size());
    for (TopicReads.Listed of : listed) {
      byte[] value = of.value();
      if (value != null) {
        Message<T> message = look.message(of.id(), state, value, of.millis(), of.attempts(), null);
        page.add(place == Place.READY ? withDue(message) : message);
      }
    }
    return listed.size();
  }

  /** Of what is sorted in by priority, the number that orders it tells when it was due. */
  private Message<T> withDue(Message<T> of) {
    return new Message<>(
        of.key(),
        of.group(),
        of.payload(),
        of.version(),
        of.priority(),
        of.state(),
        of.since(),
        of.due().plusMillis(of.priority() * definition.ageMillis()),
        of.attempts(),
        of.error());
  }

  private int dead(RedisConnection redis, SlotKeys slot, long offset, List<Message<T>> page) {
    int room = Topic.PAGE - page.size();
    List<FoundMessage> found = new ArrayList<>();
    long[] left = {offset};
    DeadMessages.each(
        redis,
        slot,
        definition.topic(),
        of -> {
          if (left[0]-- <= 0) {
            found.add(of);
          }
          return found.size() < room;
        });
    for (FoundMessage of : found) {
      FoundMessage.Dead dead = of.dead();
      if (dead != null) {
        page.add(look.message(of.id(), dead));
      }
    }
    return found.size();
  }
}
