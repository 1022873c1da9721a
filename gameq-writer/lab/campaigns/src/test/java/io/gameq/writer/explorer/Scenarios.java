package io.gameq.writer.explorer;

import io.gameq.writer.campaign.CampaignLength;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The casts that are explored. Node A holds its owners from the start; items are 1 and 2. */
final class Scenarios {
  private Scenarios() {}

  static final long CLOCK = 10;

  /** B takes a player over from A, which goes on committing; two workers, leases run out. */
  static Scenario handOver(int reaps) {
    return new Scenario(
        "hand-over",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.open(1), Op.put(1, 1, 2), Op.put(1, 1)));
          cast.add(node("B", plant, CLOCK, Op.open(1), Op.put(1, 2)));
          workers(cast, plant, 2, 1, false);
          cast.add(new Reaper(reaps));
          return cast;
        },
        List.of(1),
        false,
        0);
  }

  /** The same while A's clock is ahead, over a row that both change. */
  static Scenario clockAhead(int reaps) {
    return new Scenario(
        "clock ahead",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, 1_000, Op.open(1), Op.put(1, 1), Op.put(1, 1)));
          cast.add(node("B", plant, CLOCK, Op.open(1), Op.put(1, 1)));
          workers(cast, plant, 2, 1, false);
          cast.add(new Reaper(reaps));
          return cast;
        },
        List.of(1),
        false,
        0);
  }

  /** B gives attempts up, opens again, or dies in mid-open: a writer finishes the open. */
  static Scenario midOpen(int reopens, int workers) {
    return new Scenario(
        "mid-open",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.open(1), Op.put(1, 1), Op.put(1, 2)));
          cast.add(
              new GameNodeActor(
                  "B", List.of(Op.open(1), Op.put(1, 1)), CLOCK, reopens, true, plant));
          workers(cast, plant, workers, 1, false);
          return cast;
        },
        List.of(2),
        false,
        0);
  }

  /** A and B open a player at the same moment. */
  static Scenario rivals() {
    return new Scenario(
        "rivals",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.open(1), Op.put(1, 1)));
          cast.add(node("B", plant, CLOCK, Op.open(1), Op.put(1, 2)));
          workers(cast, plant, 1, 1, false);
          return cast;
        },
        List.of(0),
        false,
        0);
  }

  /** A's request or reply is lost and A heals, while B takes over. */
  static Scenario lostReply(int workers, int reaps) {
    return new Scenario(
        "lost reply",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.open(1), Op.lossy(Op.put(1, 1)), Op.put(1, 2)));
          cast.add(node("B", plant, CLOCK, Op.open(1), Op.put(1, 2)));
          workers(cast, plant, workers, 1, false);
          cast.add(new Reaper(reaps));
          return cast;
        },
        List.of(1),
        false,
        0);
  }

  /** A row is put, deleted and put again, while workers stall between any two statements. */
  static Scenario deletes(int reaps) {
    return new Scenario(
        "delete",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(
              node("A", plant, CLOCK, Op.open(1), Op.put(1, 1), Op.delete(1, 1), Op.put(1, 1)));
          workers(cast, plant, 2, 1, true);
          cast.add(new Reaper(reaps));
          return cast;
        },
        List.of(1),
        false,
        0);
  }

  /** An item moves between two owners of A, while B takes one of them over. */
  static Scenario move(int taken, int batch, int workers, int reaps) {
    return new Scenario(
        "move, " + (taken == 1 ? "giver" : "taker") + " lost" + (batch > 1 ? ", batch" : ""),
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.open(1), Op.open(2), Op.put(1, 1), Op.move(1, 2, 1)));
          cast.add(node("B", plant, CLOCK, Op.open(taken)));
          workers(cast, plant, workers, batch, batch > 1);
          cast.add(new Reaper(reaps));
          return cast;
        },
        List.of(3),
        true,
        1);
  }

  /**
   * An item moves between two owners of A; B opens both again before everything is flushed, the
   * taker puts the item again.
   */
  static Scenario moveAndOpenBoth(int workers, int reaps) {
    return new Scenario(
        "move, both opened again",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.open(1), Op.open(2), Op.put(1, 1), Op.move(1, 2, 1)));
          cast.add(node("B", plant, CLOCK, Op.open(1), Op.open(2), Op.put(2, 1)));
          workers(cast, plant, workers, 1, false);
          cast.add(new Reaper(reaps));
          return cast;
        },
        List.of(4),
        false,
        1);
  }

  /** An item is handed on and given back before anything of it is flushed. */
  static Scenario moveOnAndBack(int taken) {
    return new Scenario(
        "move on and back",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(
              node(
                  "A",
                  plant,
                  CLOCK,
                  Op.open(1),
                  Op.open(2),
                  Op.put(1, 1),
                  Op.move(1, 2, 1),
                  Op.put(2, 1),
                  Op.move(2, 1, 1)));
          cast.add(node("B", plant, CLOCK, Op.open(taken)));
          workers(cast, plant, 1, 1, false);
          return cast;
        },
        List.of(6),
        false,
        1);
  }

  /**
   * Redis forgets a trade, while another node opens one of its owners again.
   *
   * @param isNew whether nothing of the item is in MySQL yet
   */
  static Scenario failoverAndMove(int taken, boolean isNew, int lostWrites) {
    return new Scenario(
        "failover, move"
            + (isNew ? " of a new item, " : ", ")
            + (taken == 1 ? "giver" : "taker")
            + " opened again",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.open(1), Op.open(2), Op.put(1, 1), Op.move(1, 2, 1)));
          cast.add(node("B", plant, CLOCK, Op.open(taken)));
          workers(cast, plant, 1, 1, false);
          cast.add(new FailoverActor(1, lostWrites, false));
          return cast;
        },
        List.of(3),
        !isNew,
        0);
  }

  /** A player puts, or deletes, an item that another one has. */
  static Scenario foreign(boolean deletes) {
    return new Scenario(
        "foreign " + (deletes ? "delete" : "put"),
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.open(1), Op.put(1, 1), Op.put(1, 1)));
          cast.add(
              node("B", plant, CLOCK + 10, Op.open(2), deletes ? Op.delete(2, 1) : Op.put(2, 1)));
          workers(cast, plant, 2, 1, true);
          return cast;
        },
        List.of(2),
        true,
        0);
  }

  /** An item moves to another owner, who deletes it; its flushes come in any order. */
  static Scenario moveAndDelete() {
    return new Scenario(
        "move, then delete",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(
              node(
                  "A",
                  plant,
                  CLOCK,
                  Op.open(1),
                  Op.open(2),
                  Op.put(1, 1),
                  Op.move(1, 2, 1),
                  Op.delete(2, 1)));
          workers(cast, plant, 2, 1, true);
          cast.add(new Reaper(1));
          return cast;
        },
        List.of(3),
        false,
        0);
  }

  /** A reader reads twice, in its two steps, while a row is changed, deleted and handed over. */
  static Scenario readers(int reads) {
    return new Scenario(
        "reader",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.open(1), Op.put(1, 1), Op.delete(1, 1)));
          cast.add(node("B", plant, CLOCK, Op.open(1)));
          workers(cast, plant, 1, 1, false);
          cast.add(new ReadingActor(1, reads, plant));
          return cast;
        },
        List.of(1),
        false,
        0);
  }

  /** Redis comes back empty at any moment, around a hand-over. */
  static Scenario restart(int workers, int reopens) {
    return new Scenario(
        "Redis restart",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.open(1), Op.put(1, 1)));
          cast.add(
              new GameNodeActor(
                  "B", List.of(Op.open(1), Op.put(1, 2)), CLOCK, reopens, false, plant));
          workers(cast, plant, workers, 1, false);
          cast.add(new FailoverActor(1, 0, true));
          return cast;
        },
        List.of(1),
        false,
        0);
  }

  /** Redis fails over at any moment, around a hand-over. */
  static Scenario failover(int workers, int lostWrites) {
    return new Scenario(
        "failover",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.open(1), Op.put(1, 1, 2)));
          cast.add(node("B", plant, CLOCK, Op.open(1), Op.put(1, 2)));
          workers(cast, plant, workers, 1, false);
          cast.add(new FailoverActor(1, lostWrites, false));
          return cast;
        },
        List.of(1),
        false,
        0);
  }

  /** The same, while A looks for what is lost, at any moment. */
  static Scenario failoverAndLook(int workers, int lostWrites) {
    return new Scenario(
        "failover, look",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.open(1), Op.put(1, 1), Op.look(1)));
          cast.add(node("B", plant, CLOCK, Op.open(1)));
          workers(cast, plant, workers, 1, false);
          cast.add(new FailoverActor(1, lostWrites, false));
          return cast;
        },
        List.of(1),
        false,
        0);
  }

  /** Two failovers, the second of them in the middle of healing; a reply is lost too. */
  static Scenario failovers(int most, int lostWrites) {
    return new Scenario(
        "failovers",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.open(1), Op.put(1, 1), Op.lossy(Op.put(1, 2))));
          workers(cast, plant, 1, 1, false);
          cast.add(new FailoverActor(most, lostWrites, false));
          return cast;
        },
        List.of(1),
        false,
        0);
  }

  /** A row is deleted, Redis fails over, and what is replayed comes late. */
  static Scenario failoverAndDelete(int lostWrites) {
    return new Scenario(
        "failover, delete",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.open(1), Op.put(1, 1, 2), Op.delete(1, 1)));
          workers(cast, plant, 2, 1, false);
          cast.add(new FailoverActor(1, lostWrites, false));
          return cast;
        },
        List.of(1),
        false,
        0);
  }

  /** B dies in mid-open, and Redis fails over. */
  static Scenario failoverInMidOpen(int lostWrites) {
    return new Scenario(
        "failover, mid-open",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.open(1), Op.put(1, 1)));
          cast.add(new GameNodeActor("B", List.of(Op.open(1)), CLOCK, 0, true, plant));
          workers(cast, plant, 1, 1, false);
          cast.add(new FailoverActor(1, lostWrites, false));
          return cast;
        },
        List.of(2),
        false,
        0);
  }

  /** A reader reads twice while Redis fails over: once healed, everything is there. */
  static Scenario failoverAndReader(int lostWrites) {
    return new Scenario(
        "failover, reader",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.open(1), Op.put(1, 1)));
          workers(cast, plant, 1, 1, false);
          cast.add(new ReadingActor(1, 2, plant));
          cast.add(new FailoverActor(1, lostWrites, false));
          return cast;
        },
        List.of(1),
        false,
        0);
  }

  /**
   * Two primaries: A has a player open and commits, B opens it, a worker flushes; each by way of
   * the former primary until it goes over.
   */
  static Scenario twoPrimaries() {
    return new Scenario(
        "two primaries",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(node("A", plant, CLOCK, Op.start(), Op.open(1), Op.put(1, 1)));
          cast.add(node("B", plant, CLOCK, Op.start(), Op.open(1)));
          workers(cast, plant, 1, 1, false);
          cast.add(new Promotion());
          return cast;
        },
        List.of(2, 1),
        false,
        0);
  }

  /** Two primaries, none of which has counted yet: nodes come up, each on one of them. */
  static Scenario firstTerm() {
    return new Scenario(
        "first term",
        plant -> {
          List<Actor> cast = new ArrayList<>();
          cast.add(new Promotion());
          cast.add(node("A", plant, CLOCK, Op.startAnywhere(), Op.open(1)));
          cast.add(node("B", plant, CLOCK, Op.start(), Op.open(1), Op.put(1, 1)));
          workers(cast, plant, 1, 1, false);
          return cast;
        },
        List.of(1),
        false,
        0);
  }

  /** What {@code mvn verify} explores; those that take longest first. */
  static List<Scenario> all() {
    return List.of(
        handOver(0),
        clockAhead(0),
        readers(2),
        lostReply(1, 0),
        move(1, 1, 2, 0),
        move(2, 1, 2, 0),
        rivals(),
        moveAndOpenBoth(1, 0),
        moveOnAndBack(1),
        moveOnAndBack(2),
        SentScenarios.changed(false, 0));
  }

  /** With the campaigns, or {@code -Dgameq.explorer=failover}; the last ones only if not short. */
  static List<Scenario> failovers() {
    List<Scenario> casts =
        List.of(
            handOver(1),
            lostReply(1, 1),
            moveAndDelete(),
            failoverAndLook(0, 2),
            failoverAndReader(1),
            firstTerm(),
            foreign(false),
            foreign(true),
            move(1, 2, 2, 1),
            move(2, 2, 2, 1),
            failoverAndDelete(3),
            SentScenarios.changed(false, 1),
            SentScenarios.deleted(1),
            SentScenarios.clockAhead(),
            SentScenarios.two(1),
            deletes(2));
    return CampaignLength.isShort()
        ? casts
        : Stream.concat(
                casts.stream(),
                Stream.of(
                    twoPrimaries(),
                    midOpen(1, 2),
                    restart(1, 1),
                    SentScenarios.changed(true, 1),
                    SentScenarios.withOwn(1),
                    SentScenarios.failover(2),
                    failover(1, 2),
                    failovers(2, 2),
                    failoverInMidOpen(2),
                    failoverAndMove(1, false, 1),
                    failoverAndMove(2, false, 1)))
            .toList();
  }

  /** With {@code -Dgameq.explorer=full}. */
  static List<Scenario> full() {
    return List.of(
        lostReply(2, 2),
        move(1, 1, 2, 2),
        move(2, 1, 2, 2),
        handOver(2),
        clockAhead(2),
        restart(2, 1),
        readers(3),
        moveAndDelete(),
        midOpen(2, 2),
        rivals(),
        moveAndOpenBoth(2, 1),
        moveOnAndBack(1),
        moveOnAndBack(2),
        failoverAndMove(1, true, 2),
        failoverAndMove(2, true, 2),
        foreign(false),
        foreign(true),
        move(1, 2, 2, 2),
        move(2, 2, 2, 2),
        deletes(3),
        SentScenarios.changed(true, 2),
        SentScenarios.deleted(2),
        SentScenarios.clockAhead(),
        SentScenarios.two(2),
        SentScenarios.withOwn(2),
        SentScenarios.failover(3),
        failover(2, 3),
        failovers(2, 3),
        failoverAndReader(3),
        failoverAndDelete(4),
        failoverAndLook(1, 3),
        failoverInMidOpen(3),
        twoPrimaries(),
        firstTerm());
  }

  static GameNodeActor node(String name, Plant plant, long clockMillis, Op... ops) {
    return new GameNodeActor(name, List.of(ops), clockMillis, 0, false, plant);
  }

  static void workers(
      List<Actor> cast, Plant plant, int workers, int batch, boolean everyStatement) {
    int first = cast.size();
    for (int i = 0; i < workers; i++) {
      cast.add(
          new FlushWorker(
              first + i, Math.max(first, first + i - 1), "W" + i, batch, everyStatement, plant));
    }
  }
}
