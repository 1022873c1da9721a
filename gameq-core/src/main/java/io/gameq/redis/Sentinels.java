package io.gameq.redis;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.redis.RedisConnector.FreshCredentials;
import io.gameq.redis.RedisConnector.RedisLogin;
import io.gameq.tls.TlsRefusal;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import io.lettuce.core.sentinel.api.async.RedisSentinelAsyncCommands;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Asks all Sentinels at once which primary they name, and believes the one that knows of the newest
 * failover: one that was cut off may name a primary that was demoted. Thread-safe.
 */
final class Sentinels {
  /** For those that do not answer, once one has. */
  static final long PATIENCE_MILLIS = 1_000;

  private final RedisClient client;
  private final RedisURI uri;
  private final RedisLogin login;
  private final @Nullable FreshCredentials credentials;
  private final Map<RedisURI, CompletableFuture<StatefulRedisSentinelConnection<String, String>>>
      connections = new ConcurrentHashMap<>();

  /** A primary; {@code epoch} is Sentinel's config-epoch, which rises with every failover. */
  record Named(String host, int port, long epoch) {
    String address() {
      return host + ":" + port;
    }
  }

  Sentinels(RedisClient client, RedisURI uri, RedisLogin login) {
    this.client = client;
    this.uri = uri;
    this.login = login;
    this.credentials = login.credentials();
    if (credentials != null) {
      uri.getSentinels().forEach(sentinel -> sentinel.setCredentialsProvider(credentials));
    }
  }

  boolean isEmpty() {
    return uri.getSentinels().isEmpty();
  }

  /**
   * The primary by the newest failover that a Sentinel knows of.
   *
   * @param firstMillis how long the first answer may take: more than a second where the process has
   *     just started, on a busy host
   * @throws RedisUnavailableException when none answers in that time
   */
  Named primary(long firstMillis) {
    readPassword();
    List<CompletableFuture<Named>> answers = new ArrayList<>();
    for (RedisURI sentinel : uri.getSentinels()) {
      answers.add(ask(sentinel));
    }
    long deadline = awaitFirst(answers, firstMillis) ? in(PATIENCE_MILLIS) : System.nanoTime();
    Named newest = null;
    for (CompletableFuture<Named> answer : answers) {
      Named named = within(answer, deadline);
      if (named != null && (newest == null || named.epoch() > newest.epoch())) {
        newest = named;
      }
    }
    if (newest == null) {
      requireLogin(answers);
      throw new RedisUnavailableException(
          ("no Sentinel of '%s' named a primary within %s ms: check that they run and"
                  + " that this host may reach them")
              .formatted(uri.getSentinelMasterId(), firstMillis));
    }
    return newest;
  }

  /** Before anything connects to one; throws GameQueueException when it cannot be read. */
  void readPassword() {
    if (credentials != null) {
      credentials.read();
    }
  }

  private CompletableFuture<Named> ask(RedisURI sentinel) {
    return connections
        .compute(
            sentinel,
            (of, old) ->
                old == null || isBroken(old)
                    ? client.connectSentinelAsync(StringCodec.UTF8, sentinel)
                    : old)
        .thenCompose(connection -> ask(connection.async()));
  }

  private static boolean isBroken(
      CompletableFuture<StatefulRedisSentinelConnection<String, String>> connection) {
    return connection.isDone()
        && (connection.isCompletedExceptionally() || !connection.join().isOpen());
  }

  /** Sentinel has no MULTI: the epoch is read before and after the address. */
  private CompletableFuture<Named> ask(RedisSentinelAsyncCommands<String, String> sentinel) {
    String name = primaryName();
    CompletableFuture<Map<String, String>> before = sentinel.master(name).toCompletableFuture();
    CompletableFuture<SocketAddress> address =
        sentinel.getMasterAddrByName(name).toCompletableFuture();
    CompletableFuture<Map<String, String>> after = sentinel.master(name).toCompletableFuture();
    return CompletableFuture.allOf(before, address, after)
        .thenApply(
            all -> {
              long epoch = epoch(before.join());
              InetSocketAddress at = (InetSocketAddress) address.join();
              if (at == null || epoch != epoch(after.join())) {
                throw new RedisUnavailableException("this Sentinel is about to change its mind");
              }
              return new Named(at.getHostString(), at.getPort(), epoch);
            });
  }

  /** Throws when one of those that failed did so for what does not pass by itself. */
  private void requireLogin(List<CompletableFuture<Named>> answers) {
    for (CompletableFuture<Named> answer : answers) {
      Throwable error = answer.isCompletedExceptionally() ? failure(answer) : null;
      String untrusted = TlsRefusal.reason(error);
      if (untrusted != null) {
        throw new GameQueueException("a Sentinel of '%s': %s".formatted(primaryName(), untrusted));
      }
      for (Throwable e = error; e != null; e = e.getCause()) {
        String refused = RedisReply.answered(e);
        if (refused != null && refused.matches("(NOAUTH|WRONGPASS|NOPERM).*")) {
          throw new GameQueueException(
              "a Sentinel of '%s' refuses the login of %s: %s"
                  .formatted(primaryName(), login.described(), refused));
        }
      }
    }
  }

  private static Throwable failure(CompletableFuture<Named> answer) {
    return answer.handle((named, error) -> error).join();
  }

  private String primaryName() {
    return uri.getSentinelMasterId();
  }

  private static long epoch(Map<String, String> primary) {
    return Long.parseLong(primary.getOrDefault("config-epoch", "0"));
  }

  private static long in(long millis) {
    return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /** Waits until one has answered, or none will; whether there is anything to wait for yet. */
  private static boolean awaitFirst(List<CompletableFuture<Named>> answers, long millis) {
    CompletableFuture<Boolean> first = new CompletableFuture<>();
    answers.forEach(answer -> answer.thenRun(() -> first.complete(true)));
    CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new))
        .whenComplete((all, failed) -> first.complete(true));
    return within(first, in(millis)) != null;
  }

  private static <T> @Nullable T within(CompletableFuture<T> answer, long deadline) {
    try {
      return answer.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException e) {
      return null; // the others tell
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RedisUnavailableException("interrupted while asking Sentinel", e);
    }
  }
}
