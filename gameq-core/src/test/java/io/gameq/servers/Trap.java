package io.gameq.servers;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Waits at a proxy for a message and does something while the message is held there; springs once.
 * Thread-safe.
 */
public final class Trap {
  /**
   * Ends a case in which the message never comes; a failover and a busy machine take part of it.
   */
  public static final int LIMIT_SECONDS = 60;

  private final String request;
  private final @Nullable String reply;
  private final Runnable action;
  private final boolean delivers;
  private int skip;
  private final CompletableFuture<Void> sprung = new CompletableFuture<>();

  private Trap(
      String request, @Nullable String reply, int skip, boolean delivers, Runnable action) {
    this.request = request;
    this.reply = reply;
    this.skip = skip;
    this.delivers = delivers;
    this.action = action;
  }

  /**
   * Springs on the request after {@code skip} others that hold this text, before the server has it;
   * it never gets there.
   */
  public static Trap beforeRequest(String text, int skip, Runnable action) {
    return new Trap(text, null, skip, false, action);
  }

  /**
   * Springs when the server has answered the request with something that holds {@code reply}; the
   * client never learns it.
   */
  public static Trap beforeReply(String text, String reply, int skip, Runnable action) {
    return new Trap(text, reply, skip, false, action);
  }

  /** The same, but what was held is delivered after the action. */
  public Trap thenDeliver() {
    return new Trap(request, reply, skip, true, action);
  }

  synchronized boolean catches(String text) {
    return text.contains(request) && skip-- == 0;
  }

  /** Longer than what a boundary between two reads may cut in half. */
  int overlap() {
    return request.length() - 1;
  }

  /** What the reply must hold; null when the request itself is caught. */
  @Nullable String reply() {
    return reply;
  }

  boolean delivers() {
    return delivers;
  }

  void spring() {
    action.run();
    sprung.complete(null);
  }

  /** Waits until one of them has sprung; throws when none does. */
  public static void awaitAny(List<Trap> traps) {
    CompletableFuture.anyOf(
            traps.stream().map(trap -> trap.sprung).toArray(CompletableFuture<?>[]::new))
        .orTimeout(LIMIT_SECONDS, TimeUnit.SECONDS)
        .join();
  }

  /** Waits until the action is done; throws when the message does not come. */
  public void await() {
    sprung.orTimeout(LIMIT_SECONDS, TimeUnit.SECONDS).join();
  }
}
