package io.gameq.lab.peers;

import io.gameq.lab.contender.RowBytes;
import io.gameq.lab.load.Acknowledgement;
import io.gameq.lab.load.GameThreads;
import io.gameq.lab.workload.Actions;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A game thread of a library whose asynchronous calls may overtake each other: a player's next
 * action waits for its last. One thread.
 */
final class InOrderThread implements GameThreads.GameThread {
  private final Function<Map<Long, byte[]>, CompletableFuture<Void>> sending;
  private final Map<Long, CompletableFuture<Void>> last = new HashMap<>();

  /** Of a library that takes the rows of an action, by key. */
  InOrderThread(Function<Map<Long, byte[]>, CompletableFuture<Void>> sending) {
    this.sending = sending;
  }

  @Override
  public Acknowledgement perform(Actions action) {
    Map<Long, byte[]> entries = RowBytes.entries(action);
    CompletableFuture<Void> before = last.get(action.player());
    CompletableFuture<Void> sent =
        before == null || before.isDone()
            ? sending.apply(entries)
            : before.thenCompose(done -> sending.apply(entries));
    last.put(action.player(), sent);
    return Acknowledgement.of(sent);
  }
}
