package io.gameq.redis.script;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.redis.script.JournalMarks.SlotMarks;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * A model of journal marks: every interleaving of calls that a node sends to a slot, two of which
 * may be on their way at a time. Redis takes or refuses each; replies are lost with the connection;
 * Redis forgets its newest calls, or all, beneath the connection or with it, twice; a call of the
 * connection before arrives late. What a mark proves is there, or decided, in every state.
 */
class JournalMarksTest {
  private static final int CALLS = 5;
  private static final int MOST_IN_FLIGHT = 2;
  private static final int MOST_LOSSES = 2;

  /**
   * @param there calls that Redis holds, as bits
   * @param mark of the slot
   * @param before what a replica that lags behind may be at: there, mark, there, mark ...
   * @param next the call that is sent next
   * @param sent calls without an answer
   * @param decided calls that Redis refused, as bits
   * @param told the mark as the node knows it from the last answer
   * @param expected the mark once all that is on its way has arrived
   * @param late a call of a connection that was given up; null for none
   * @param node the marks of a real node
   * @param isHealing it has read the mark, and was cut off before all was there again
   */
  private record State(
      int there,
      long mark,
      List<Long> before,
      int next,
      List<Call> sent,
      int decided,
      long told,
      long expected,
      int losses,
      List<Call> late,
      Node node,
      boolean isHealing) {
    State node(List<Call> nowSent, long nowTold, long nowExpected, Node now) {
      return new State(
          there,
          mark,
          before,
          next,
          nowSent,
          decided,
          nowTold,
          nowExpected,
          losses,
          late,
          now,
          isHealing);
    }

    /** What did not arrive may do so late. */
    List<Call> missed() {
      return sent.stream().filter(of -> of.was == -2).limit(1).toList();
    }
  }

  /** Equal when all is that it knows. */
  private record Node(SlotMarks marks, String text) {
    Node() {
      this(new SlotMarks(1));
    }

    Node(SlotMarks marks) {
      this(marks, marks.toString());
    }

    Node after(Consumer<SlotMarks> call) {
      SlotMarks copy = new SlotMarks(marks);
      call.accept(copy);
      return new Node(copy);
    }

    /** What it takes for held once it has read a mark. */
    Node reads(long mark) {
      return after(of -> of.read(JournalMarks.parse(List.of(String.valueOf(mark)), "")));
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Node of && of.text.equals(text);
    }

    @Override
    public int hashCode() {
      return text.hashCode();
    }
  }

  /**
   * @param was the mark that Redis found; -1 when it refused the call, -2 when it did not arrive
   */
  private record Call(int number, SlotMarks.Move move, long delta, long was) {}

  private boolean isPlanted;
  private LongUnaryOperator marks = JournalMarks::of;
  private LongUnaryOperator proves = JournalMarks::sequence;
  private final Set<State> seen = new HashSet<>();
  private final List<State> violations = new ArrayList<>();

  /** Other slots have sequences in between. */
  private static long sequence(int call) {
    return 2L * call + 1;
  }

  private void explore() {
    Deque<State> queue = new ArrayDeque<>();
    queue.add(
        new State(0, 0, List.of(0L, 0L), 0, List.of(), 0, 0, 0, 0, List.of(), new Node(), false));
    for (State state; violations.size() <= 100 && (state = queue.poll()) != null; ) {
      if (!holds(state)) {
        violations.add(state);
      }
      for (State next : next(state)) {
        if (seen.add(next)) {
          queue.add(next);
        }
      }
    }
  }

  private boolean holds(State state) {
    if (state.losses == 0 && state.late.isEmpty() && state.sent.isEmpty()) {
      return state.mark == state.told; // a node that reconnects knows that nothing was lost
    }
    return isThere(state, proves.applyAsLong(state.mark))
        && (isPlanted || isThere(state, state.node.reads(state.mark).marks.read().sequence(0)));
  }

  /** Whether all calls up to a sequence are there, or decided. */
  private static boolean isThere(State state, long proven) {
    for (int call = 0; call < CALLS; call++) {
      if (sequence(call) <= proven && ((state.there | state.decided) >> call & 1) == 0) {
        return false;
      }
    }
    return true;
  }

  private List<State> next(State state) {
    List<State> all = new ArrayList<>();
    if (!state.isHealing && state.next < CALLS && state.sent.size() < MOST_IN_FLIGHT) {
      long delta = marks.applyAsLong(sequence(state.next)) - state.expected;
      SlotMarks node = new SlotMarks(state.node.marks);
      SlotMarks.Move move = node.next(0, sequence(state.next));
      for (long was : new long[] {state.mark, -1, -2}) {
        all.add(send(state, new Call(state.next, move, delta, was), new Node(node)));
      }
    }
    if (!state.sent.isEmpty() && state.sent.get(0).was != -2) {
      all.add(answer(state, state.sent.get(0)));
    }
    if (!state.sent.isEmpty() || state.isHealing) {
      all.add(heal(state));
      all.add(cutOff(state));
    }
    for (int i = 0; state.losses < MOST_LOSSES && i < state.before.size(); i += 2) {
      State lost = lose(state, state.before.get(i).intValue(), state.before.get(i + 1));
      all.add(lost);
      all.add(heal(lost));
      all.add(cutOff(lost));
    }
    for (Call late : state.late) { // as a MULTI would: a script compares the mark
      all.add(
          new State(
              state.there | 1 << late.number,
              state.mark + late.delta,
              state.before,
              state.next,
              state.sent,
              state.decided,
              state.told,
              state.expected,
              state.losses + 1,
              List.of(),
              state.node,
              state.isHealing));
    }
    return all;
  }

  private static State send(State state, Call call, Node node) {
    List<Call> sent = new ArrayList<>(state.sent);
    // What is behind a call that did not arrive does not arrive either.
    boolean arrives = call.was != -2 && sent.stream().noneMatch(of -> of.was == -2);
    sent.add(arrives ? call : new Call(call.number, call.move, call.delta, -2));
    boolean taken = arrives && call.was >= 0;
    int there = taken ? state.there | 1 << call.number : state.there;
    long mark = taken ? state.mark + call.delta : state.mark;
    List<Long> before = new ArrayList<>(state.before);
    before.add((long) there);
    before.add(mark);
    return new State(
        there,
        mark,
        List.copyOf(before),
        state.next + 1,
        List.copyOf(sent),
        arrives && !taken ? state.decided | 1 << call.number : state.decided,
        state.told,
        state.expected + call.delta,
        state.losses,
        state.late,
        node,
        false);
  }

  private State answer(State state, Call call) {
    List<Call> left = List.copyOf(state.sent.subList(1, state.sent.size()));
    if (call.was == -1) {
      Node refused = state.node.after(of -> of.refused(call.move));
      return state.node(left, state.told, state.expected - call.delta, refused);
    }
    SlotMarks node = new SlotMarks(state.node.marks);
    boolean fits = node.taken(call.move, call.was);
    return call.was == state.told && (fits || isPlanted)
        ? state.node(left, call.was + call.delta, state.expected, new Node(node))
        : heal(state.node(state.sent, state.told, state.expected, new Node(node)));
  }

  private static State lose(State state, int there, long mark) {
    return new State(
        there,
        mark,
        List.of(),
        state.next,
        state.sent,
        state.decided,
        state.told,
        state.expected,
        state.losses + 1,
        state.late,
        state.node,
        state.isHealing);
  }

  /** The node has read the mark, and loses its connection before anything is there again. */
  private State cutOff(State state) {
    return new State(
        state.there,
        state.mark,
        state.before,
        state.next,
        List.of(),
        state.decided,
        state.mark,
        state.mark,
        state.losses,
        state.isHealing ? state.late : state.missed(),
        state.node.reads(state.mark),
        true);
  }

  /** All that was sent is there again, or was refused; then the node writes the mark of that. */
  private State heal(State state) {
    if (!holds(state)) {
      violations.add(state);
    }
    long mark = state.next == 0 ? 0 : marks.applyAsLong(sequence(state.next - 1));
    int all = (1 << state.next) - 1;
    int there = (all & ~state.decided) | state.there;
    return new State(
        there,
        mark,
        List.of((long) there, mark),
        state.next,
        List.of(),
        state.decided,
        mark,
        mark,
        state.losses,
        state.isHealing ? state.late : state.missed(),
        state.node.reads(mark),
        false);
  }

  @Test
  void whatAMarkProvesIsThereUnderEveryInterleaving() {
    explore();
    System.out.printf(
        "model of journal marks: %,d states, %d violations%n", seen.size(), violations.size());
    assertEquals(List.of(), violations.subList(0, Math.min(3, violations.size())));
    assertTrue(seen.size() > 10_000, "states: " + seen.size());
  }

  @Test
  void withoutTheChecksumALossBeneathTheConnectionIsCaughtByTheModel() {
    isPlanted = true;
    marks = sequence -> sequence;
    proves = mark -> mark;
    explore();
    assertTrue(violations.size() > 100, "violations: " + violations.size());
  }

  @Test
  void eachSequenceHasItsOwnMarkAndOthersProveNothing() {
    for (long sequence : new long[] {1, 2, 1_000, 1L << 42}) {
      assertEquals(sequence, JournalMarks.sequence(JournalMarks.of(sequence)));
      assertEquals(0, JournalMarks.sequence(JournalMarks.of(sequence) + 1));
      assertTrue(JournalMarks.of(sequence) > JournalMarks.of(sequence - 1));
    }
  }
}
