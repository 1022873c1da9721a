package io.gameq.recovery.failover;

import io.gameq.writer.campaign.NodeJvm;
import java.time.Duration;
import java.util.List;
import java.util.Random;

/** A failover beside a clock that is wrong by an hour for a while. Stateless. */
final class ClockFailovers {
  private static final Duration HOUR = Duration.ofHours(1);

  /** A replica whose clock was set may take its primary for silent, and asks it for all again. */
  private static final int SETTLES_MILLIS = 2_000;

  private ClockFailovers() {}

  static List<Failover> all() {
    return List.of(
        Failover.ofClocks(
            "the promoted one's clock is an hour ahead, then right",
            (world, random) -> promoted(world, random, HOUR)),
        Failover.ofClocks(
            "the promoted one's clock is an hour behind, then right",
            (world, random) -> promoted(world, random, HOUR.negated())),
        Failover.ofClocks(
            "a node's clock jumps an hour ahead and back",
            (world, random) -> ofNode(world, random, HOUR)),
        Failover.ofClocks(
            "a node's clock jumps an hour back and ahead",
            (world, random) -> ofNode(world, random, HOUR.negated())));
  }

  /**
   * Nodes commit by both clocks. What they publish while it is ahead is due an hour later: an hour
   * passes at the end.
   */
  private static void promoted(FailoverWorld world, Random random, Duration ahead)
      throws Exception {
    Member replica = world.topology.replica();
    replica.setClock(ahead);
    FailoverWorld.pause(SETTLES_MILLIS);
    long from = System.nanoTime();
    PrimaryFaults.kill(world, random);
    if (!ahead.isNegative()) {
      world.clockWentAhead(from);
    }
    wrongFor(random);
    from = System.nanoTime();
    replica.setClock(Duration.ZERO);
    if (ahead.isNegative()) {
      world.clockWentAhead(from);
    } else {
      world.passesAtTheEnd(ahead);
    }
  }

  /** Its WAL holds commits by both clocks that only it can put back. */
  private static void ofNode(FailoverWorld world, Random random, Duration ahead) throws Exception {
    NodeJvm node = world.node(random);
    PrimaryFaults.killDuring(world, random, () -> node.setClock(ahead));
    wrongFor(random);
    node.setClock(Duration.ZERO);
  }

  /** Nodes have gone over in a second or two; what they do then is done by the wrong clock. */
  private static void wrongFor(Random random) {
    FailoverWorld.pause(4_000 + random.nextInt(2_000));
  }
}
