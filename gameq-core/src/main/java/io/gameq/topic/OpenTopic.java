package io.gameq.topic;

import io.gameq.BatchHandler;
import io.gameq.Claims;
import io.gameq.CommitReceipt;
import io.gameq.Message;
import io.gameq.MessageHandler;
import io.gameq.Publish;
import io.gameq.SubscribeOptions;
import io.gameq.Subscription;
import io.gameq.Topic;
import io.gameq.TopicOptions;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageId;
import io.gameq.redis.topic.TopicDefinition;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;

/** A topic as a game has it open on a node. Thread-safe. */
public final class OpenTopic<T> implements Topic<T> {
  private final NodeTopics node;
  private final TopicDefinition definition;
  private final TopicOptions options;
  private final MessageEncoding<T> encoding;
  private final TopicLook<T> look;
  private final Claims<T> claims;

  OpenTopic(
      NodeTopics node, TopicDefinition definition, TopicOptions options, Payloads<T> payloads) {
    this.node = node;
    this.definition = definition;
    this.options = options;
    this.encoding =
        new MessageEncoding<>(
            definition.topic(), definition.slots(), options, payloads, node.node().clock());
    this.look = new TopicLook<>(node.node(), definition, encoding);
    this.claims = new TopicClaims<>(node, definition, options, payloads);
  }

  @Override
  public String name() {
    return definition.topic();
  }

  @Override
  public TopicOptions options() {
    return options;
  }

  /**
   * What publishes a message, for a commit of this topic's node.
   *
   * @throws io.gameq.GameQueueException when the message is not fit for the topic
   */
  public MessageChange change(Publish<T> message) {
    return encoding.publish(message);
  }

  /** Whether it was opened on a node. */
  public boolean isOf(NodeTopics topics) {
    return topics == node;
  }

  @Override
  public CommitReceipt publish(String key, T payload) {
    return publish(Publish.of(key, payload));
  }

  @Override
  public CommitReceipt publish(Publish<T> message) {
    return commit(encoding.publish(message));
  }

  @Override
  public CommitReceipt publish(List<Publish<T>> messages) {
    return node.node()
        .commits()
        .commit(messages.stream().<MessageChange>map(encoding::publish).toList());
  }

  @Override
  public void merge(Publish<T> message, BinaryOperator<T> combine) {
    new Merging<>(node.node(), look, encoding).merge(message, combine);
  }

  @Override
  public Optional<Message<T>> get(String key) {
    return look.get(encoding.id(null, key));
  }

  @Override
  public Optional<Message<T>> get(String group, String key) {
    return look.get(encoding.id(group, key));
  }

  @Override
  public CommitReceipt delete(String key) {
    return deletes(null, key);
  }

  @Override
  public CommitReceipt delete(String group, String key) {
    return deletes(group, key);
  }

  private CommitReceipt deletes(@Nullable String group, String key) {
    MessageId id = encoding.id(group, key);
    return commit(new MessageChange.Delete(id, encoding.slot(id)));
  }

  @Override
  public CommitReceipt retime(String key, Instant due) {
    return commit(encoding.retime(encoding.id(null, key), due));
  }

  @Override
  public CommitReceipt retime(String key, Duration fromNow) {
    return commit(encoding.retime(encoding.id(null, key), fromNow));
  }

  @Override
  public CommitReceipt retime(String group, String key, Instant due) {
    return commit(encoding.retime(encoding.id(group, key), due));
  }

  @Override
  public CommitReceipt retime(String group, String key, Duration fromNow) {
    return commit(encoding.retime(encoding.id(group, key), fromNow));
  }

  private CommitReceipt commit(MessageChange change) {
    return node.node().commits().commit(List.of(change));
  }

  @Override
  public Page<T> list(Message.State state, @Nullable String from) {
    return look.list(state, from);
  }

  @Override
  public Counts counts() {
    return look.counts();
  }

  @Override
  public boolean retryDead(Message<T> dead) {
    return look.retryDead(dead, null);
  }

  @Override
  public boolean retryDead(Message<T> dead, T payload) {
    return look.retryDead(dead, encoding.payload(encoding.id(dead.group(), dead.key()), payload));
  }

  @Override
  public boolean discardDead(Message<T> dead) {
    return look.discardDead(dead);
  }

  @Override
  public void pause(String reason) {
    node.pause(name(), reason);
  }

  @Override
  public void resume() {
    node.resume(name());
  }

  @Override
  public void rate(double perSecond, String reason) {
    node.rate(name(), perSecond, reason);
  }

  @Override
  public Subscription subscribe(MessageHandler<T> handler) {
    return subscribe(handler, SubscribeOptions.DEFAULT);
  }

  @Override
  public Subscription subscribe(MessageHandler<T> handler, SubscribeOptions with) {
    return node.subscribe(
        definition,
        options,
        encoding.payloads(),
        deliveries -> handler.handle(deliveries.get(0)),
        new SubscribeOptions(with.concurrency(), 1, with.perSecond()));
  }

  @Override
  public Subscription subscribeBatch(BatchHandler<T> handler, SubscribeOptions with) {
    return node.subscribe(definition, options, encoding.payloads(), handler, with);
  }

  @Override
  public Claims<T> claims() {
    return claims;
  }

  @Override
  public String toString() {
    return "Topic[" + name() + "]";
  }
}
