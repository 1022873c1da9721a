package io.gameq.writer.status;

import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.Duty;
import io.gameq.backlog.SharedBacklog;
import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.backlog.SharedSnapshot;
import io.gameq.redis.RedisServerCheck.RedisState;
import io.gameq.redis.script.SlotBacklog;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Shows the latest look at what waits as meters: whoever reads them waits for no server. Nodes and
 * writers of a namespace share one look every five seconds. A meter has no value (NaN) until the
 * first. Thread-safe.
 */
public final class BacklogWatch {
  /** One short call; see {@link SharedBacklog}. */
  private static final Duration EVERY = Duration.ofSeconds(1);

  /** Some looks late: a timeout of Redis is 10 s. */
  private static final long MOST_AGE_NANOS = TimeUnit.SECONDS.toNanos(20);

  /** Dead letters are counted row by row: with every so many calls. */
  private static final int LOOKS_FOR_EACH_COUNT = 60;

  private final Supplier<SharedSnapshot.@Nullable SeenSnapshot<Backlog>> look;
  private final LongSupplier deadLetters;
  private final Consumer<Backlog> seenBy;
  private int looks; // of the duty's thread
  private volatile @Nullable BacklogSample latest;
  private volatile long answeredNanos = System.nanoTime() - MOST_AGE_NANOS;
  private volatile double deadLettersFound = Double.NaN;

  private record BacklogSample(Backlog backlog, long atNanos) {}

  /**
   * A watch that has not looked yet.
   *
   * @param look asks Redis; null while another process takes the very first look
   * @param deadLetters counts them in MySQL
   * @param seenBy told each look, by the thread of the duty
   */
  public BacklogWatch(
      Supplier<SharedSnapshot.@Nullable SeenSnapshot<Backlog>> look,
      LongSupplier deadLetters,
      Consumer<Backlog> seenBy) {
    this.look = look;
    this.deadLetters = deadLetters;
    this.seenBy = seenBy;
  }

  /** What looks. */
  public Agent duty() {
    return Duty.every(Duration.ZERO, EVERY::toNanos, "look what waits in Redis", this::look);
  }

  private void look() {
    SharedSnapshot.SeenSnapshot<Backlog> seen = look.get();
    answeredNanos = System.nanoTime();
    if (seen != null) {
      latest =
          new BacklogSample(
              seen.what(), answeredNanos - TimeUnit.MILLISECONDS.toNanos(seen.ageMillis()));
      seenBy.accept(seen.what());
    }
    if (looks++ % LOOKS_FOR_EACH_COUNT == 0) {
      deadLettersFound = deadLetters.getAsLong();
    }
  }

  /** The latest look; null before the first. */
  public @Nullable Backlog latest() {
    BacklogSample of = latest;
    return of == null ? null : of.backlog();
  }

  /** Whether Redis answered lately: false before it did. */
  public boolean isFresh() {
    return System.nanoTime() - answeredNanos < MOST_AGE_NANOS;
  }

  /** How old the latest look is, s; NaN before the first. */
  private double ageSeconds() {
    BacklogSample of = latest;
    return of == null ? Double.NaN : (System.nanoTime() - of.atNanos()) / 1e9;
  }

  /** Registers meters that show the latest look. */
  public void bindTo(MeterRegistry meters, int slots) {
    all(meters, "owners", "Owners with rows that are not in MySQL", Backlog::owners);
    all(
        meters,
        "rows",
        "Rows that no writer has claimed, estimated from some owners",
        Backlog::rows);
    all(
        meters,
        "stale",
        "Sessions with rows committed after ownership was lost",
        of -> of.sum(SlotBacklog::stale));
    all(meters, "closing", "Owners closed while rows waited", of -> of.sum(SlotBacklog::closing));
    all(meters, "healing", "Owners whose node puts back rows", of -> of.sum(SlotBacklog::healing));
    all(meters, "lapsed", "Claims whose lease ran out", of -> of.sum(SlotBacklog::lapsed));
    all(
        meters,
        "foreign",
        "Keys that hold somebody else's values",
        of -> of.sum(SlotBacklog::foreign));
    Gauge.builder("gameq.backlog.look.age", this, BacklogWatch::ageSeconds)
        .description("How old the figures of the backlog are")
        .baseUnit("seconds")
        .register(meters);
    Gauge.builder("gameq.deadletters", this, of -> of.deadLettersFound)
        .description("Rows set aside in the database")
        .register(meters);
    ofRedis(meters, "memory.used", "bytes", "Memory that Redis uses", RedisState::usedBytes);
    ofRedis(
        meters, "memory.max", "bytes", "Most it may use; 0 for no limit", RedisState::mostBytes);
    ofRedis(meters, "evicts", null, "1 where Redis may drop rows", of -> of.mayEvict() ? 1 : 0);
    ofRedis(meters, "replicas", null, "Replicas of the primary", RedisState::replicas);
    for (int slot = 0; slot < slots; slot++) {
      ofSlot(meters, slot, "due", SlotBacklog::due);
      ofSlot(meters, slot, "ready", SlotBacklog::ready);
      ofSlot(meters, slot, "claimed", SlotBacklog::claimed);
      int number = slot;
      Gauge.builder(
              "gameq.slot.oldest",
              this,
              of -> of.show(all -> all.slots().get(number).oldestAgeMillis() / 1e3))
          .description("How long the oldest row of the slot waits, at least")
          .baseUnit("seconds")
          .tag("slot", Integer.toString(slot))
          .register(meters);
    }
  }

  private double show(ToDoubleFunction<Backlog> value) {
    Backlog backlog = latest();
    return backlog == null ? Double.NaN : value.applyAsDouble(backlog);
  }

  private void all(
      MeterRegistry meters, String name, String description, ToDoubleFunction<Backlog> value) {
    Gauge.builder("gameq.backlog." + name, this, of -> of.show(value))
        .description(description)
        .register(meters);
  }

  private void ofRedis(
      MeterRegistry meters,
      String name,
      @Nullable String unit,
      String description,
      ToDoubleFunction<RedisState> value) {
    Gauge.builder(
            "gameq.redis." + name, this, of -> of.show(look -> value.applyAsDouble(look.redis())))
        .description(description)
        .baseUnit(unit)
        .register(meters);
  }

  private void ofSlot(
      MeterRegistry meters, int slot, String state, ToDoubleFunction<SlotBacklog> value) {
    Gauge.builder(
            "gameq.slot.owners",
            this,
            of -> of.show(look -> value.applyAsDouble(look.slots().get(slot))))
        .description("Owners with rows that are not in MySQL, by where they are on the way")
        .tag("slot", Integer.toString(slot))
        .tag("state", state)
        .register(meters);
  }
}
