package io.gameq.writer.service;

import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.backlog.SharedBacklog.TopicBacklog;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * What waits in topics, as meters that come and go with the topics. Shown to by one thread, read by
 * any.
 */
public final class TopicMeters {
  private final MultiGauge messages;
  private final MultiGauge overdue;
  private final MultiGauge paused;
  private volatile int left;
  private volatile Map<String, TopicBacklog> latest = Map.of();

  public TopicMeters(MeterRegistry meters) {
    messages =
        MultiGauge.builder("gameq.topic.messages")
            .description(
                "Messages by where they are; due are lanes, and pending ones as well, as those to"
                    + " be tried again")
            .register(meters);
    overdue =
        MultiGauge.builder("gameq.topic.overdue")
            .description("For how long the oldest message that is due waits, at least")
            .baseUnit("seconds")
            .register(meters);
    paused =
        MultiGauge.builder("gameq.topic.paused")
            .description("1 where consumers take nothing, since an operator paused the topic")
            .register(meters);
    Gauge.builder("gameq.topics.unwatched", this, of -> of.left)
        .description("Topics beyond those that are looked at, which have no other meter")
        .register(meters);
  }

  /** Shows a look. Meters of topics that stay are not made anew, so that no scrape misses them. */
  public void show(Backlog backlog) {
    latest =
        backlog.topics().stream()
            .collect(Collectors.toUnmodifiableMap(TopicBacklog::topic, Function.identity()));
    left = backlog.topicsLeft();
    List<MultiGauge.Row<?>> counts = new ArrayList<>();
    List<MultiGauge.Row<?>> ages = new ArrayList<>();
    List<MultiGauge.Row<?>> pauses = new ArrayList<>();
    for (String topic : latest.keySet()) {
      Tags tags = Tags.of("topic", topic);
      counts.add(row(tags.and("state", "pending"), topic, of -> of.counts().pending()));
      counts.add(row(tags.and("state", "due"), topic, of -> of.counts().dueLanes()));
      counts.add(row(tags.and("state", "held"), topic, of -> of.counts().held()));
      counts.add(row(tags.and("state", "dead"), topic, of -> of.counts().dead()));
      counts.add(row(tags.and("state", "retrying"), topic, of -> of.counts().retrying()));
      ages.add(row(tags, topic, of -> of.overdueMillis() / 1e3));
      pauses.add(row(tags, topic, of -> of.isPaused() ? 1 : 0));
    }
    messages.register(counts, false);
    overdue.register(ages, false);
    paused.register(pauses, false);
  }

  private MultiGauge.Row<?> row(Tags tags, String topic, ToDoubleFunction<TopicBacklog> value) {
    return MultiGauge.Row.of(tags, this, of -> of.value(topic, value));
  }

  private double value(String topic, ToDoubleFunction<TopicBacklog> value) {
    TopicBacklog of = latest.get(topic);
    return of == null ? Double.NaN : value.applyAsDouble(of);
  }
}
