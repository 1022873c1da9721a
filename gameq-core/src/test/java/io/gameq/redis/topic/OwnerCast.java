package io.gameq.redis.topic;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What all remember who handle the messages of one owner in the explorer, and what they have left
 * to do; with what Redis holds it is a state. Copied for each step.
 */
final class OwnerCast {
  /** Processes that handle what their sessions want; behind them one that opens owners. */
  static final int A = 0;

  static final int B = 1;
  static final int OPENER = 2;
  static final int NOBODY = -1;

  TopicImage image = TopicImage.EMPTY;

  /** What a replica has that takes over; null while there is none. */
  @Nullable Replica replica;

  int published;

  /** The numbers of messages that were acknowledged, in that order. */
  List<Integer> handled = List.of();

  // Whose session is the newest, which MySQL knows.
  int epoch;
  int openAt = NOBODY;

  boolean hasFailedOver;

  /** A process, as OwnerConsumer is one. What is said is an epoch, and + or -. */
  static final class Taker {
    boolean isDead;

    /** Whether it has opened the owner before: it takes and says nothing until then. */
    boolean hasOpened;

    /** The epoch of its session, 0 for none; not that of the owner when it was taken over. */
    int session;

    /** The same as long as the session handles messages: it may not know that it was taken over. */
    int handles;

    /** What is to be said before all else, and what has changed. */
    List<String> first = List.of();

    List<String> changes = List.of();

    /** What was said without an answer, until that is known. */
    @Nullable List<String> unanswered;

    /** Whether all was said over this connection, and whether Redis has forgotten it. */
    boolean hasSaidAll;

    boolean isForgotten;

    /** The message that it has, 0 for none; from 1. */
    int holds;

    int acks;

    Taker copy() {
      Taker copy = new Taker();
      copy.isDead = isDead;
      copy.hasOpened = hasOpened;
      copy.session = session;
      copy.handles = handles;
      copy.first = first;
      copy.changes = changes;
      copy.unanswered = unanswered;
      copy.hasSaidAll = hasSaidAll;
      copy.isForgotten = isForgotten;
      copy.holds = holds;
      copy.acks = acks;
      return copy;
    }

    void changed(int ofEpoch, char how) {
      List<String> more = new ArrayList<>(changes);
      more.add(ofEpoch + "" + how);
      changes = List.copyOf(more);
    }

    void saysFirst(String what) {
      List<String> more = new ArrayList<>(first);
      more.add(what);
      first = List.copyOf(more);
    }

    @Override
    public String toString() {
      return (isDead ? "x" : "")
          + (hasOpened ? "o" : "")
          + session
          + " "
          + handles
          + first
          + changes
          + (unanswered == null ? "" : "?" + unanswered)
          + (hasSaidAll ? "+" : "-")
          + (isForgotten ? "f" : "")
          + holds
          + " "
          + acks;
    }
  }

  /** Which was behind: what was published and acknowledged since comes again. */
  record Replica(TopicImage image, int published, List<Acknowledged> since) {}

  record Acknowledged(int message, int by, long sequence) {}

  final Taker[] processes = {new Taker(), new Taker(), new Taker()};

  // What may still happen.
  int publishes;
  int opens;
  boolean hasOpener;
  int deaths;
  int stalls;
  int leases;
  int lostAnswers;
  int failovers;

  @Nullable String wrong;

  static OwnerCast of(int publishes, int opens) {
    OwnerCast cast = new OwnerCast();
    cast.publishes = publishes;
    cast.opens = opens;
    return cast;
  }

  OwnerCast opener() {
    hasOpener = true;
    return this;
  }

  OwnerCast deaths(int most) {
    deaths = most;
    return this;
  }

  OwnerCast stalls(int most) {
    stalls = most;
    return this;
  }

  OwnerCast leases(int most) {
    leases = most;
    return this;
  }

  OwnerCast lostAnswers(int most) {
    lostAnswers = most;
    return this;
  }

  OwnerCast failovers(int most) {
    failovers = most;
    return this;
  }

  OwnerCast copy() {
    OwnerCast copy = of(publishes, opens);
    copy.hasOpener = hasOpener;
    copy.deaths(deaths).stalls(stalls).leases(leases).lostAnswers(lostAnswers).failovers(failovers);
    copy.image = image;
    copy.replica = replica;
    copy.published = published;
    copy.handled = handled;
    copy.epoch = epoch;
    copy.openAt = openAt;
    copy.hasFailedOver = hasFailedOver;
    for (int p = 0; p < processes.length; p++) {
      copy.processes[p] = processes[p].copy();
    }
    copy.wrong = wrong;
    return copy;
  }

  /** Whether a process has the session that owns. */
  boolean owns(int p) {
    return openAt == p && processes[p].session == epoch;
  }

  boolean isOpen() {
    return openAt != NOBODY && !processes[openAt].isDead;
  }

  void opened(int p) {
    openAt = p;
    processes[p].session = ++epoch;
  }

  /** What may still happen. */
  String left() {
    return ("%d messages, %d opens%s, %d deaths, %d stalls, %d leases, %d answers lost, %d"
            + " failovers")
        .formatted(
            publishes,
            opens,
            hasOpener ? " beside an opener" : "",
            deaths,
            stalls,
            leases,
            lostAnswers,
            failovers);
  }

  /** What all remember; equal for states that behave alike with the same image. */
  @Override
  public String toString() {
    return published
        + ""
        + handled
        + epoch
        + " "
        + openAt
        + (hasFailedOver ? "!" : "")
        + Arrays.toString(processes);
  }
}
