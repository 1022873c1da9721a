package io.gameq.mysql;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Calls of many threads that are made together (group commit): while as many as may are under way,
 * those that come wait, and the next to go takes the others with it. A call that comes alone goes
 * at once. Thread-safe.
 *
 * @param <Q> what is asked
 * @param <A> what is answered
 */
public final class GroupedCalls<Q, A> {
  private final int mostTogether;
  private final int mostAtOnce;
  private final Function<Q, A> one;
  private final Function<List<Q>, List<A>> many;
  private final Queue<Call<Q, A>> waiting = new ArrayDeque<>();
  private int underWay;

  /** {@code turn} is what its thread does when it has waited. */
  private record Call<Q, A>(Q question, CompletableFuture<Supplier<A>> turn) {}

  /**
   * Groups calls.
   *
   * @param mostTogether in one group
   * @param mostAtOnce groups under way
   * @param one answers a call that is alone
   * @param many answers all, in their order; where it throws, each is asked alone: nothing was done
   *     that may not be done again
   */
  public GroupedCalls(
      int mostTogether, int mostAtOnce, Function<Q, A> one, Function<List<Q>, List<A>> many) {
    this.mostTogether = mostTogether;
    this.mostAtOnce = mostAtOnce;
    this.one = one;
    this.many = many;
  }

  /** Asks; throws what {@code one} throws. */
  public A call(Q question) {
    Call<Q, A> mine = new Call<>(question, new CompletableFuture<>());
    synchronized (waiting) {
      if (underWay < mostAtOnce) {
        underWay++;
        mine.turn.complete(() -> lead(mine));
      } else {
        waiting.add(mine);
      }
    }
    return mine.turn.join().get();
  }

  private A lead(Call<Q, A> mine) {
    List<Call<Q, A>> group = new ArrayList<>(List.of(mine));
    synchronized (waiting) {
      while (group.size() < mostTogether && !waiting.isEmpty()) {
        group.add(waiting.remove());
      }
    }
    try {
      return group.size() == 1 ? one.apply(mine.question) : together(group);
    } finally {
      askAlone(group); // those without an answer
      next();
    }
  }

  private A together(List<Call<Q, A>> group) {
    List<A> answers;
    try {
      answers = many.apply(group.stream().map(Call::question).toList());
    } catch (RuntimeException e) {
      askAlone(group);
      return one.apply(group.get(0).question);
    }
    for (int i = 1; i < group.size(); i++) {
      A answer = answers.get(i);
      group.get(i).turn.complete(() -> answer);
    }
    return answers.get(0);
  }

  private void askAlone(List<Call<Q, A>> group) {
    group.forEach(call -> call.turn.complete(() -> one.apply(call.question)));
  }

  /** How many wait now. */
  int waiting() {
    synchronized (waiting) {
      return waiting.size();
    }
  }

  private void next() {
    synchronized (waiting) {
      Call<Q, A> next = waiting.poll();
      if (next == null) {
        underWay--;
      } else {
        next.turn.complete(() -> lead(next));
      }
    }
  }
}
