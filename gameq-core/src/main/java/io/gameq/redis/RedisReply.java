package io.gameq.redis;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Tells apart why Redis did not do what was asked. Stateless. */
public final class RedisReply {
  /**
   * A primary that was demoted, is starting, has forgotten a script, or cannot write just now:
   * another connection, or the same one later, can.
   */
  private static final Set<String> AWAY =
      Set.of(
          "READONLY",
          "LOADING",
          "MASTERDOWN",
          "NOREPLICAS",
          "MISCONF",
          "UNBLOCKED",
          "CLUSTERDOWN",
          "TRYAGAIN",
          "NOSCRIPT",
          "BUSY");

  private RedisReply() {}

  /**
   * An error that Redis itself answered, so that nothing of the command was applied; null when the
   * connection failed.
   */
  public static @Nullable String answered(Throwable error) {
    Throwable cause = error;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause instanceof RedisCommandExecutionException
            || cause instanceof TransactionDiscardedException
        ? String.valueOf(cause.getMessage())
        : null;
  }

  /** Waits for a call, with the client's exceptions turned into gameq's. */
  public static <T> T await(Supplier<T> call) {
    try {
      return call.get();
    } catch (RedisException e) {
      throw exception(e);
    }
  }

  /** Waits for a call that was sent; as {@link #await(Supplier)}. */
  public static <T> T await(CompletionStage<T> sent) {
    try {
      return sent.toCompletableFuture().join();
    } catch (CompletionException e) {
      throw exception(e);
    }
  }

  /** The same, no longer than a time. */
  public static <T> T await(CompletionStage<T> sent, int timeoutMillis) {
    try {
      return sent.toCompletableFuture().get(timeoutMillis, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw exception(new CompletionException(e.getCause()));
    } catch (TimeoutException e) {
      throw new RedisUnavailableException(
          "Redis did not answer for " + timeoutMillis / 1000 + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new GameQueueException("interrupted", e);
    }
  }

  /**
   * Makes a call that changes nothing, and gives up a broken connection, once more in that case.
   */
  public static <T> T againIfBroken(Supplier<T> call) {
    try {
      return call.get();
    } catch (RedisUnavailableException e) {
      if (!hasBroken(e)) {
        throw e;
      }
    }
    return call.get();
  }

  /** Whether a connection broke: not that none could be made, or an answer did not come in time. */
  private static boolean hasBroken(RedisUnavailableException e) {
    return e.getCause() instanceof RuntimeException cause
        && answered(cause) == null
        && !(cause instanceof RedisConnectionException)
        && !(cause instanceof RedisCommandTimeoutException)
        && !(cause instanceof RedisCommandInterruptedException);
  }

  public static GameQueueException exception(RuntimeException e) {
    String message = answered(e);
    if (message == null || isAway(message)) {
      return new RedisUnavailableException("Redis does not answer: " + e.getMessage(), e);
    }
    return new GameQueueException(refusal(message), e);
  }

  private static String refusal(String message) {
    if (isFull(message)) {
      return "Redis reached maxmemory: let the writers drain, or raise maxmemory, then try again";
    }
    String refusal = "Redis refused: " + message;
    return message.startsWith("NOPERM")
        ? refusal + ": give the user the rights that 'gameq-writer security redis' prints"
        : refusal;
  }

  /** Whether this is the client's own exception: of a connection, a command or a reply. */
  public static boolean isOfClient(RuntimeException e) {
    return e instanceof RedisException;
  }

  /** Redis before 7.0 wraps what a command inside a script answered: {@code ERR ...: -READONLY}. */
  public static boolean isAway(String message) {
    return message.startsWith("ERR max number of clients")
        || AWAY.stream()
            .anyMatch(
                code ->
                    (message + " ").startsWith(code + " ") || message.contains(": -" + code + " "));
  }

  public static boolean isFull(String message) {
    return message.startsWith("OOM") || message.contains("OOM command not allowed");
  }

  /** A MULTI that Redis discarded as a whole: nothing of it was applied. */
  public static final class TransactionDiscardedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public TransactionDiscardedException(String message) {
      super(message);
    }
  }
}
