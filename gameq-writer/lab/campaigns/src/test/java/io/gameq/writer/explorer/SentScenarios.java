package io.gameq.writer.explorer;

import java.util.ArrayList;
import java.util.List;

/** The casts in which A sends rows to player 1, whom B opens at any moment. */
final class SentScenarios {
  private SentScenarios() {}

  /**
   * B changes the row, which it has loaded or was told of.
   *
   * @param mayBeLost whether A's request, or its reply, may be lost
   */
  static Scenario changed(boolean mayBeLost, int reaps) {
    return new Scenario(
        "sent, changed" + (mayBeLost ? ", request or reply lost" : ""),
        plant -> {
          List<Actor> cast = new ArrayList<>();
          Op send = Op.send(1, 1);
          cast.add(sender(plant, Scenarios.CLOCK, mayBeLost ? Op.lossy(send) : send));
          cast.add(receiver(plant, Op.put(1, 1)));
          Scenarios.workers(cast, plant, 2, 1, false);
          cast.add(new Reaper(reaps));
          return cast;
        },
        List.of(),
        false,
        0);
  }

  /** B deletes it, while workers stall between any two statements. */
  static Scenario deleted(int reaps) {
    return new Scenario(
        "sent, deleted",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(sender(plant, Scenarios.CLOCK, Op.send(1, 1)));
          cast.add(receiver(plant, Op.delete(1, 1)));
          Scenarios.workers(cast, plant, 2, 1, true);
          cast.add(new Reaper(reaps));
          return cast;
        },
        List.of(0, 1),
        false,
        0);
  }

  /** The same while A's clock is ahead. */
  static Scenario clockAhead() {
    return new Scenario(
        "sent, clock ahead",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(sender(plant, 1_000, Op.send(1, 1)));
          cast.add(receiver(plant, Op.put(1, 1)));
          Scenarios.workers(cast, plant, 2, 1, false);
          return cast;
        },
        List.of(),
        false,
        0);
  }

  /** Two rows, one after the other, which a reader looks for as well. */
  static Scenario two(int reads) {
    return new Scenario(
        "sent, two rows",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(sender(plant, Scenarios.CLOCK, Op.send(1, 1), Op.send(1, 2)));
          cast.add(receiver(plant));
          Scenarios.workers(cast, plant, 1, 1, false);
          cast.add(new ReadingActor(1, reads, plant));
          return cast;
        },
        List.of(),
        false,
        0);
  }

  /** Together with a change of a player of A, whom B takes over. */
  static Scenario withOwn(int reaps) {
    return new Scenario(
        "sent with own",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(
              sender(
                  plant,
                  Scenarios.CLOCK,
                  Op.open(2),
                  Op.lossy(Op.together(Op.put(2, 5), Op.send(1, 1)))));
          cast.add(Scenarios.node("B", plant, Scenarios.CLOCK, Op.open(2), Op.open(1)));
          Scenarios.workers(cast, plant, 1, 1, false);
          cast.add(new Reaper(reaps));
          return cast;
        },
        List.of(1),
        false,
        0);
  }

  /** Redis forgets what was sent, or what B made of it. */
  static Scenario failover(int lostWrites) {
    return new Scenario(
        "failover, sent",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(sender(plant, Scenarios.CLOCK, Op.send(1, 1)));
          cast.add(receiver(plant, Op.delete(1, 1)));
          Scenarios.workers(cast, plant, 1, 1, false);
          cast.add(new FailoverActor(1, lostWrites, false));
          return cast;
        },
        List.of(),
        false,
        0);
  }

  private static GameNodeActor sender(Plant plant, long clockMillis, Op... ops) {
    return Scenarios.node("A", plant, clockMillis, ops);
  }

  private static GameNodeActor receiver(Plant plant, Op... makesOfIt) {
    List<Op> ops = new ArrayList<>(List.of(Op.open(1), Op.hear(1)));
    for (Op op : makesOfIt) {
      ops.add(Op.ofKnown(op));
    }
    return Scenarios.node("B", plant, Scenarios.CLOCK, ops.toArray(Op[]::new));
  }
}
