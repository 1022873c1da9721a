package io.gameq.topic;

import io.gameq.GameQueueException;
import io.gameq.Message;
import io.gameq.Message.State;
import io.gameq.Topic;
import io.gameq.message.MessageId;
import io.gameq.message.MessageValue;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.topic.DeadMessages;
import io.gameq.redis.topic.FoundMessage;
import io.gameq.redis.topic.TopicCounts;
import io.gameq.redis.topic.TopicDefinition;
import io.gameq.redis.topic.TopicReads;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Looks at the messages of a topic, and settles dead letters, for the game. Thread-safe. */
final class TopicLook<T> {
  private final TopicNode node;
  private final TopicDefinition definition;
  private final MessageEncoding<T> encoding;

  TopicLook(TopicNode node, TopicDefinition definition, MessageEncoding<T> encoding) {
    this.node = node;
    this.definition = definition;
    this.encoding = encoding;
  }

  private SlotKeys slot(MessageId id) {
    return node.slots()[encoding.slot(id)];
  }

  private FoundMessage find(MessageId id) {
    return node.asking().ask("message " + id, redis -> TopicReads.find(redis, slot(id), id));
  }

  /** What is pending of a message; null when nothing is. Throws as {@link Topic#get}. */
  MessageValue.@Nullable Decoded pending(MessageId id) {
    FoundMessage.Pending pending = find(id).pending();
    return pending == null ? null : MessageValue.decode(pending.value());
  }

  /** As {@link Topic#get(String)}. */
  Optional<Message<T>> get(MessageId id) {
    FoundMessage found = find(id);
    FoundMessage.Pending pending = found.pending();
    FoundMessage.Held held = found.held();
    FoundMessage.Dead dead = found.dead();
    if (pending != null) {
      return Optional.of(
          message(
              id, State.PENDING, pending.value(), pending.dueMillis(), pending.attempts(), null));
    }
    if (held != null) {
      return Optional.of(
          message(id, State.HELD, held.value(), held.leaseEndMillis(), held.attempts(), null));
    }
    return dead == null ? Optional.empty() : Optional.of(message(id, dead));
  }

  /** A dead letter. */
  Message<T> message(MessageId id, FoundMessage.Dead dead) {
    return message(id, State.DEAD, dead.value(), dead.diedMillis(), dead.attempts(), dead.error());
  }

  /** A message as Redis holds it. */
  Message<T> message(
      MessageId id,
      State state,
      byte[] encoded,
      long millis,
      int attempts,
      @Nullable String error) {
    MessageValue.Decoded value = MessageValue.decode(encoded);
    return new Message<>(
        id.key(),
        id.group(),
        payload(value),
        value.version(),
        value.priority(),
        state,
        Instant.ofEpochMilli(value.sinceMillis()),
        Instant.ofEpochMilli(millis),
        attempts,
        error);
  }

  private @Nullable T payload(MessageValue.Decoded value) {
    try {
      return encoding.payloads().decode(value.payload());
    } catch (GameQueueException e) { // which may be why it is a dead letter
      return null;
    }
  }

  /** As {@link Topic#list(State, String)}. */
  Topic.Page<T> list(State state, @Nullable String from) {
    PageStart start = PageStart.parse(from);
    PageReading<T> reading = new PageReading<>(this, node.slots(), definition);
    return node.asking()
        .ask(
            "messages of topic '" + definition.topic() + "'",
            redis -> reading.read(redis, state, start));
  }

  /** As {@link Topic#counts}. */
  Topic.Counts counts() {
    List<SlotKeys> slots = Arrays.asList(node.slots()).subList(0, definition.slots());
    TopicCounts counts =
        node.asking()
            .ask(
                "counts of topic '" + definition.topic() + "'",
                redis ->
                    TopicReads.counts(redis, slots, definition.topic(), node.clock().getAsLong()));
    return new Topic.Counts(counts.pending(), counts.dueLanes(), counts.held(), counts.dead());
  }

  /** As {@link Topic#retryDead}; with another payload, or null for its own. */
  boolean retryDead(Message<T> dead, byte @Nullable [] payload) {
    MessageId id = encoding.id(dead.group(), dead.key());
    return node.asking()
        .ask(
            "to retry message " + id,
            redis ->
                DeadMessages.retry(redis, slot(id), id, dead.version(), payload)
                    == DeadMessages.Retried.RETRIED);
  }

  /** As {@link Topic#discardDead}. */
  boolean discardDead(Message<T> dead) {
    MessageId id = encoding.id(dead.group(), dead.key());
    return node.asking()
        .ask(
            "to discard message " + id,
            redis -> DeadMessages.discard(redis, slot(id), id, dead.version()));
  }
}
