package io.gameq.writer.campaign;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Clocks that somebody sets under load, by an hour and right again. Stateless. */
final class ClockFaults {
  private static final Duration HOUR = Duration.ofHours(1);

  private ClockFaults() {}

  static List<Fault> all() {
    return List.of(
        of("Redis clock jumps an hour ahead and back", (w, random) -> ofRedis(w, random, HOUR)),
        of(
            "Redis clock jumps an hour back and ahead",
            (w, random) -> ofRedis(w, random, HOUR.negated())),
        of("node clock jumps an hour ahead and back", (w, random) -> ofNode(w, random, HOUR)),
        of(
            "node clock jumps an hour back and ahead",
            (w, random) -> ofNode(w, random, HOUR.negated())));
  }

  private static Fault of(String name, Fault.Injection injection) {
    return new Fault(name, 1, true, injection);
  }

  /**
   * What nodes publish while it is ahead is due an hour later, since gameq cannot tell a wrong time
   * from a late one: an hour passes at the end.
   */
  private static void ofRedis(World world, Random random, Duration ahead)
      throws InterruptedException {
    world.setRedisClock(ahead);
    wrongFor(random);
    world.setRedisClock(Duration.ZERO);
    goOn(random);
    if (!ahead.isNegative()) {
      world.passesAtTheEnd(ahead);
    }
  }

  private static void ofNode(World world, Random random, Duration ahead)
      throws InterruptedException {
    NodeProcess node = world.node(random);
    node.setClock(ahead);
    wrongFor(random);
    node.setClock(Duration.ZERO);
    goOn(random);
  }

  private static void wrongFor(Random random) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(2_000 + random.nextInt(2_000));
  }

  /**
   * Nodes learn within four seconds that the clock of Redis is right: play ends after that, or
   * before, when what they committed by the wrong one is brought forward by nothing that follows.
   */
  private static void goOn(Random random) throws InterruptedException {
    TimeUnit.SECONDS.sleep(random.nextBoolean() ? 4 : 0);
  }
}
