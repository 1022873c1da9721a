package io.gameq.topic;

import io.gameq.GameQueueException;
import io.gameq.Message;
import io.gameq.Message.State;
import io.gameq.Topic;
import io.gameq.message.MessageValue;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.topic.FoundMessage;
import io.gameq.redis.topic.TopicMessages;
import io.gameq.redis.topic.TopicMessages.Place;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the messages of a topic in a state, page by page, slot after slot. Immutable. */
final class MessagePages<T> {
  private final OpenTopic<T> topic;
  private final State state;

  /** The lists of a slot in which such messages are; none for dead letters. */
  private final List<Place> places;

  MessagePages(OpenTopic<T> topic, State state) {
    this.topic = topic;
    this.state = state;
    this.places =
        switch (state) {
          case PENDING -> List.of(Place.READY, Place.DUE);
          case HELD -> List.of(Place.HELD);
          case DEAD -> List.of();
        };
  }

  /**
   * Where a page begins.
   *
   * @param list number of the list in the slot
   * @param offset how many of it were on earlier pages
   */
  private record Start(int slot, int list, long offset) {}

  /** The page that begins where an earlier one said, null for the first. */
  Topic.Page<T> read(@Nullable String from) {
    Start start = start(from);
    return topic.ask("messages of topic '" + topic.name() + "'", redis -> read(redis, start));
  }

  private Start start(@Nullable String text) {
    if (text == null) {
      return new Start(0, 0, 0);
    }
    String error = "not what a page of messages gave as the next one";
    Start start;
    try {
      String[] words = text.split("-", -1);
      start =
          new Start(
              Integer.parseInt(words[0]), Integer.parseInt(words[1]), Long.parseLong(words[2]));
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      throw new GameQueueException(error, e);
    }
    if (start.slot < 0
        || start.slot >= topic.definition.slots()
        || start.list < 0
        || start.list >= lists()
        || start.offset < 0) {
      throw new GameQueueException(error);
    }
    return start;
  }

  private int lists() {
    return Math.max(1, places.size());
  }

  private Topic.Page<T> read(RedisConnection redis, Start from) {
    List<Message<T>> page = new ArrayList<>();
    int list = from.list;
    long offset = from.offset;
    for (int slot = from.slot; slot < topic.definition.slots(); slot++) {
      for (; list < lists(); list++) {
        int room = Topic.PAGE - page.size();
        int read =
            state == State.DEAD
                ? dead(redis, slot, offset, room, page)
                : listed(redis, slot, places.get(list), offset, room, page);
        if (read == room) {
          return new Topic.Page<>(page, slot + "-" + list + "-" + (offset + read));
        }
        offset = 0;
      }
      list = 0;
    }
    return new Topic.Page<>(page, null);
  }

  /** Adds what there is room for; returns how many it read. */
  private int listed(
      RedisConnection redis, int slot, Place place, long offset, int room, List<Message<T>> page) {
    List<TopicMessages.Listed> listed =
        TopicMessages.page(redis, topic.node.slots()[slot], topic.name(), place, offset, room);
    for (TopicMessages.Listed of : listed) {
      byte[] value = of.value();
      if (value != null) {
        long millis = of.millis();
        if (place == Place.READY) { // by a number in which the priority is counted
          millis += MessageValue.decode(value).priority() * topic.definition.ageMillis();
        }
        page.add(topic.message(of.id(), state, value, millis, of.attempts(), of.error()));
      }
    }
    return listed.size();
  }

  private int dead(RedisConnection redis, int slot, long offset, int room, List<Message<T>> page) {
    List<FoundMessage> found = new ArrayList<>();
    long[] left = {offset};
    TopicMessages.eachDead(
        redis,
        topic.node.slots()[slot],
        topic.name(),
        of -> {
          if (left[0]-- <= 0) {
            found.add(of);
          }
          return found.size() < room;
        });
    found.forEach(of -> page.addAll(topic.deadLetter(of).stream().toList()));
    return found.size();
  }
}
