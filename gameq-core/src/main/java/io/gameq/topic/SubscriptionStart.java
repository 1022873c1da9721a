package io.gameq.topic;

import io.gameq.BatchHandler;
import io.gameq.SubscribeOptions;
import io.gameq.Subscription;
import io.gameq.TopicOptions;
import io.gameq.agent.AgentRunner;
import io.gameq.redis.topic.ExtendScript;
import io.gameq.redis.topic.GrantScript;
import io.gameq.redis.topic.NackMessageScript;
import io.gameq.redis.topic.TakeScript;
import io.gameq.redis.topic.TakenMessage;
import io.gameq.redis.topic.TopicDefinition;
import io.gameq.redis.topic.TopicNotices;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** Puts a subscription together and starts it. Used by one thread. */
final class SubscriptionStart<T> {
  private final TopicNode node;
  private final TopicDefinition definition;
  private final TopicOptions options;
  private final Payloads<T> payloads;

  SubscriptionStart(
      TopicNode node, TopicDefinition definition, TopicOptions options, Payloads<T> payloads) {
    this.node = node;
    this.definition = definition;
    this.options = options;
    this.payloads = payloads;
  }

  /** A subscription that runs; {@code closed} is told of it once it is. */
  Subscription start(
      BatchHandler<T> handler, SubscribeOptions with, Consumer<Subscription> closed) {
    String topic = definition.topic();
    AgentRunner runner = new AgentRunner("gameq-topic-" + topic);
    Pace pace = new Pace(with.concurrency(), with.perSecond());
    SubscriptionCounts counts = new SubscriptionCounts(topic, pace);
    Outcomes outcomes = outcomes(counts, runner);
    HeldMessage.Terms<T> terms = new HeldMessage.Terms<>(node, options, payloads, this::extend);
    Handling<T> handling =
        new Handling<>(handler, new Holding<>(terms, outcomes, counts), outcomes, counts, pace);
    Workers workers =
        new Workers("gameq-handler-" + topic, with.concurrency(), handling, counts, runner::wake);
    SlotTimes times = new SlotTimes(definition.slots());
    TakingWay way = new TakingWay(node, topic, notices(times, runner));
    AtomicReference<Subscription> itself = new AtomicReference<>();
    Subscription subscription =
        new RunningSubscription(
            new RunningSubscription.Parts(runner, way, workers, outcomes, counts),
            node.callTimeout(),
            () -> closed.accept(itself.get()));
    itself.set(subscription);
    runner.start(
        new Taking(
            new Taking.Source(topic, way, takes(times)), with.batch(), pace, outcomes, workers));
    return subscription;
  }

  /** What takes messages by claims, running. */
  ClaimTaking startTaking() {
    String topic = definition.topic();
    AgentRunner runner = new AgentRunner("gameq-claims-" + topic);
    SubscriptionCounts counts = new SubscriptionCounts(topic, new Pace(1, 0));
    Outcomes outcomes = outcomes(counts, runner);
    SlotTimes times = new SlotTimes(definition.slots());
    ClaimTaking taking =
        new ClaimTaking(
            new Taking.Source(
                topic, new TakingWay(node, topic, notices(times, runner)), takes(times)),
            outcomes,
            counts,
            runner);
    runner.start(taking);
    return taking;
  }

  private Outcomes outcomes(SubscriptionCounts counts, AgentRunner runner) {
    return new Outcomes(
        node,
        new NackMessageScript(definition.topic(), options.retry().attempts()),
        options.retry(),
        counts,
        runner::wake);
  }

  private SlotTakes takes(SlotTimes times) {
    TakeScript take =
        new TakeScript(
            definition.topic(),
            node.name(),
            new TakeScript.Bounds(
                options.lease().toMillis(),
                options.ageing().toMillis(),
                options.retry().attempts()),
            node.clock()::latestMillis);
    return new SlotTakes(
        Arrays.copyOf(node.slots(), definition.slots()),
        options.lease(),
        take,
        times,
        new TopicShare(new GrantScript(definition.topic(), node.slots()[0])));
  }

  private TopicNotices notices(SlotTimes times, AgentRunner runner) {
    return new TopicNotices(
        node.connector(),
        node.namespace(),
        Set.of(definition.topic()),
        (topic, slot) -> {
          times.notice(slot);
          runner.wake();
        });
  }

  private boolean extend(TakenMessage taken, long leaseMillis) {
    return node.asking()
        .ask(
            "to extend the lease of message " + taken.id(),
            redis -> ExtendScript.call(redis, node.slots(), List.of(taken), leaseMillis).get(0));
  }
}
