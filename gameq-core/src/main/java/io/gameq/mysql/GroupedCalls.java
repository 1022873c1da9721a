package io.gameq.mysql;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

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
  private final Server<Q, A> server;
  private final Queue<Call<Q, A>> waiting = new ArrayDeque<>();
  private int underWay;

  /** Who answers. */
  public interface Server<Q, A> {
    /** Answers one. */
    A one(Q question);

    /**
     * Answers all, in their order; where it throws, each is asked alone: nothing was done that may
     * not be done again.
     */
    List<A> many(List<Q> questions);
  }

  /** What a call that waited is to do. */
  private sealed interface Turn<A> {}

  private record Lead<A>() implements Turn<A> {}

  private record Alone<A>() implements Turn<A> {}

  private record Answered<A>(A answer) implements Turn<A> {}

  private record Call<Q, A>(Q question, CompletableFuture<Turn<A>> turn) {}

  /**
   * Groups calls.
   *
   * @param mostTogether in one group
   * @param mostAtOnce groups under way
   */
  public GroupedCalls(int mostTogether, int mostAtOnce, Server<Q, A> server) {
    this.mostTogether = mostTogether;
    this.mostAtOnce = mostAtOnce;
    this.server = server;
  }

  /** Asks; throws what {@link Server#one} throws. */
  public A call(Q question) {
    Call<Q, A> mine = new Call<>(question, new CompletableFuture<>());
    synchronized (waiting) {
      if (underWay < mostAtOnce) {
        underWay++;
        mine.turn.complete(new Lead<>());
      } else {
        waiting.add(mine);
      }
    }
    Turn<A> turn = mine.turn.join();
    if (turn instanceof Answered<A> answered) {
      return answered.answer;
    }
    return turn instanceof Lead<A> ? lead(mine) : server.one(question);
  }

  private A lead(Call<Q, A> mine) {
    List<Call<Q, A>> group = new ArrayList<>();
    group.add(mine);
    synchronized (waiting) {
      while (group.size() < mostTogether && !waiting.isEmpty()) {
        group.add(waiting.remove());
      }
    }
    try {
      return group.size() == 1 ? server.one(mine.question) : together(group);
    } finally {
      group.forEach(call -> call.turn.complete(new Alone<>())); // those without an answer
      next();
    }
  }

  private A together(List<Call<Q, A>> group) {
    List<A> answers;
    try {
      answers = server.many(group.stream().map(Call::question).toList());
    } catch (RuntimeException e) {
      group.forEach(call -> call.turn.complete(new Alone<>()));
      return server.one(group.get(0).question);
    }
    for (int i = 1; i < group.size(); i++) {
      group.get(i).turn.complete(new Answered<>(answers.get(i)));
    }
    return answers.get(0);
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
        next.turn.complete(new Lead<>());
      }
    }
  }
}
