package io.gameq.writer.doctor;

import io.gameq.agent.RateLimit;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.Slots;
import io.gameq.redis.script.NodeSigns;
import io.gameq.redis.script.SlotContents;
import io.gameq.redis.script.SlotContents.Progress;
import io.gameq.redis.script.Symptom;
import io.gameq.redis.script.Symptom.Thing;
import io.gameq.redis.topic.DefinedTopic;
import io.gameq.redis.topic.TopicDefinition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Looks for what does not fit together in Redis, while nodes and writers work. Each thing is looked
 * at by a script, as a whole; what seems wrong is looked at again after a while, and counts when it
 * is in the same state then. Changes nothing. One thread.
 */
public final class Doctor {
  /** Of 256 slots some things each, so that a call is worth its round trip. */
  private static final int THINGS_TOGETHER = 5_000;

  private final String namespace;
  private final Slots slots;
  private final ControlConnection redis;
  private final Duration betweenLooks;
  private final long perSecond;

  /**
   * With a connection that nothing else uses meanwhile.
   *
   * @param betweenLooks the time between the two looks
   * @param perSecond keys and entries that the first look takes at most, 0 for no limit: of each it
   *     asks some ten commands
   */
  public Doctor(
      String namespace,
      Slots slots,
      ControlConnection redis,
      Duration betweenLooks,
      long perSecond) {
    this.namespace = namespace;
    this.slots = slots;
    this.redis = redis;
    this.betweenLooks = betweenLooks;
    this.perSecond = perSecond;
  }

  /**
   * Looks twice.
   *
   * @param progress told how far the first look is
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public Diagnosis examine(Consumer<Progress> progress) throws InterruptedException {
    Look first = firstLook(progress);
    if (first.found.isEmpty()) {
      return new Diagnosis(List.of(), false);
    }
    Thread.sleep(betweenLooks.toMillis());
    Look second = new Look(redis.get(), 0);
    second.add(first.found.stream().map(DoctorFinding::thing).toList());
    second.finish();
    List<DoctorFinding> twice =
        first.found.stream()
            .filter(second.found::contains)
            .sorted(
                Comparator.comparing(DoctorFinding::ailment)
                    .thenComparing(of -> of.thing().slot())
                    .thenComparing(of -> of.thing().name()))
            .toList();
    return new Diagnosis(twice, first.isCut);
  }

  private Look firstLook(Consumer<Progress> progress) {
    RedisConnection connection = redis.get();
    Look look = new Look(connection, perSecond);
    Set<Thing> inflight = new LinkedHashSet<>();
    SlotContents.keys(
        connection,
        namespace,
        slots.count(),
        page -> {
          look.add(page);
          page.stream()
              .filter(of -> of.place().equals("key") && of.name().startsWith("inflight:"))
              .forEach(inflight::add);
        },
        of -> {
          look.pace.take(SlotContents.PAGE);
          progress.accept(of);
        });
    for (int i = 0; i < slots.count(); i++) {
      SlotContents.entries(connection, slots.get(i), look::add);
    }
    for (DefinedTopic of : DefinedTopic.all(connection, namespace).values()) {
      TopicDefinition topic = of.definition();
      for (int i = 0; i < Math.min(topic.slots(), slots.count()); i++) {
        SlotContents.messages(connection, slots.get(i), topic.topic(), look::add);
      }
    }
    for (Thing of : inflight) {
      String writer = of.name().substring("inflight:".length());
      SlotContents.inflight(connection, slots.get(of.slot()), writer, look::add);
    }
    look.finish();
    return look;
  }

  /** One look at many things. */
  private final class Look {
    private final RedisConnection connection;
    private final Map<String, Boolean> alive = new HashMap<>();
    private final Map<Ailment, Integer> counts = new EnumMap<>(Ailment.class);
    private final Set<DoctorFinding> found = new LinkedHashSet<>();
    private final Set<Thing> waiting = new HashSet<>();
    private final RateLimit pace;
    private boolean isCut;

    Look(RedisConnection connection, long perSecond) {
      this.connection = connection;
      this.pace = new RateLimit(perSecond);
    }

    void add(Collection<Thing> things) {
      pace.take(things.size());
      waiting.addAll(things);
      if (waiting.size() >= pace.burst(THINGS_TOGETHER)) {
        finish();
      }
    }

    /** Looks at what was added. */
    void finish() {
      List<Thing> things = new ArrayList<>(waiting);
      waiting.clear();
      for (Symptom symptom : Symptom.among(connection, namespace, things)) {
        DoctorFinding finding = DoctorFinding.of(symptom);
        if (finding.ailment().isOfProcess() && isAlive(finding.process())) {
          continue;
        }
        if (counts.merge(finding.ailment(), 1, Integer::sum) <= Diagnosis.MOST) {
          found.add(finding);
        } else {
          isCut = true;
        }
      }
    }

    private boolean isAlive(String process) {
      return alive.computeIfAbsent(
          process, of -> NodeSigns.aliveNode(connection, namespace, of) != null);
    }
  }
}
