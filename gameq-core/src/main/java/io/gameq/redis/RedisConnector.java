package io.gameq.redis;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.Tls;
import io.gameq.sign.ProcessIdentity;
import io.gameq.term.Primary;
import io.gameq.tls.PemTls;
import io.gameq.tls.TlsRefusal;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.Transports;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Opens connections to Redis, straight or through Sentinel; thread-safe.
 *
 * <p>A connection is never rebuilt behind its user's back (the client's own reconnect replays
 * commands and tears transactions): when it breaks, its user opens a new one and finds out what was
 * applied.
 */
public final class RedisConnector implements AutoCloseable {
  /** Commands that may wait for replies on one connection; beyond it the client refuses. */
  private static final int REQUEST_QUEUE_SIZE = 200_000;

  private final DefaultEventLoopGroupProvider loops;
  private final DnsAddressResolverGroup names = HostNames.resolver();
  private final ClientResources resources;
  private final RedisClient client;
  private final RedisURI uri;
  private final Sentinels sentinels;
  private final String where;
  private final RedisLogin login;
  private final @Nullable FreshCredentials credentials;

  /** A connector whose connections share as many threads as there are cores. */
  public RedisConnector(RedisConfig config) {
    this(config, Math.max(2, Runtime.getRuntime().availableProcessors()));
  }

  /** A connector whose connections share a number of threads. */
  RedisConnector(RedisConfig config, int threads) {
    try {
      uri = RedisURI.create(config.uri());
    } catch (IllegalArgumentException e) {
      throw new GameQueueException(
          "redis uri '"
              + redacted(config.uri())
              + "' is not of the form redis://host:port or"
              + " redis-sentinel://host:port,host:port#primary");
    }
    requireFiles(config.tls());
    credentials = config.login().credentials();
    prepareUri();
    uri.setTimeout(Duration.ofMillis(config.timeoutMillis()));
    where = redacted(config.uri());
    login = config.login();
    loops = new DefaultEventLoopGroupProvider(threads);
    resources =
        DefaultClientResources.builder()
            .eventLoopGroupProvider(loops)
            .addressResolverGroup(names)
            .build();
    client = RedisClient.create(resources, uri);
    sentinels = new Sentinels(client, uri, config.sentinel());
    client.setOptions(
        ClientOptions.builder()
            .autoReconnect(false)
            .protocolVersion(ProtocolVersion.RESP2)
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .requestQueueSize(REQUEST_QUEUE_SIZE)
            .sslOptions(ssl(config.tls()))
            .timeoutOptions(
                TimeoutOptions.builder()
                    .timeoutSource(new ReplyTimeout(config.timeoutMillis()))
                    .build())
            .socketOptions(
                SocketOptions.builder()
                    .connectTimeout(Duration.ofMillis(config.timeoutMillis()))
                    .keepAlive(true)
                    .build())
            .build());
  }

  private void prepareUri() {
    if (credentials != null) {
      uri.setCredentialsProvider(credentials);
    }
    for (RedisURI sentinel : uri.getSentinels()) {
      sentinel.setSsl(uri.isSsl());
      secure(sentinel);
    }
    secure(uri);
  }

  private static void secure(RedisURI of) {
    of.setVerifyPeer(SslVerifyMode.FULL); // whatever the URI says
    // CLIENT SETINFO would need a right of its own.
    of.setLibraryName("");
    of.setLibraryVersion("");
  }

  /** What is wrong with them is told before anything is opened. */
  private static void requireFiles(@Nullable Tls tls) {
    if (tls != null) {
      SSLContext unused = PemTls.context(tls.caFile(), tls.clientFile());
    }
  }

  /** The files are read for each connection. */
  private static SslOptions ssl(@Nullable Tls tls) {
    SslOptions.Builder ssl = SslOptions.builder().jdkSslProvider();
    if (tls != null && tls.caFile() != null) {
      ssl.trustManager(tls.caFile().toFile());
    }
    if (tls != null && tls.clientFile() != null) {
      ssl.keyManager(tls.clientFile().toFile(), tls.clientFile().toFile(), new char[0]);
    }
    return ssl.build();
  }

  /** A connector whose connections share one thread; see {@link #eventLoop}. */
  public static RedisConnector ofOneThread(RedisConfig config) {
    return new RedisConnector(config, 1);
  }

  /** One of the threads. */
  public Executor eventLoop() {
    return loops.allocate(Transports.eventLoopGroupClass()).next();
  }

  /**
   * Opens a connection to the primary.
   *
   * @throws RedisUnavailableException when it is away; the message names the address
   * @throws GameQueueException when it refuses the login; the message never names the password
   */
  public RedisConnection open() {
    readPassword();
    try {
      return new RedisConnection(client.connect(ByteArrayCodec.INSTANCE));
    } catch (RedisException e) {
      throw cannotConnect(e);
    }
  }

  /**
   * A connection to a primary.
   *
   * @param address as Sentinel names it, or the given one
   * @param sentinelEpoch of the failover that made it primary, by Sentinel
   */
  record Reached(RedisConnection redis, String address, long sentinelEpoch) {}

  /** {@link #open}, to the primary by the newest failover that any Sentinel knows of. */
  Reached reach() {
    if (!hasSentinels()) {
      return new Reached(open(), address(), Primary.NO_SENTINEL);
    }
    Sentinels.Named named = sentinels.primary(uri.getTimeout().toMillis());
    return new Reached(openAt(named.host(), named.port()), named.address(), named.epoch());
  }

  /** {@link #open}, at another address, with the same login. */
  public RedisConnection openAt(String host, int port) {
    readPassword();
    RedisURI primary =
        RedisURI.builder()
            .withHost(host)
            .withPort(port)
            .withSsl(uri)
            .withAuthentication(uri)
            .withDatabase(uri.getDatabase())
            .withTimeout(uri.getTimeout())
            .build();
    secure(primary);
    try {
      return new RedisConnection(client.connect(ByteArrayCodec.INSTANCE, primary));
    } catch (RedisException e) {
      throw cannotConnect(e);
    }
  }

  /** Of a server on this host, with the host's name: elsewhere it is another server's. */
  private String address() {
    String host = uri.getHost();
    boolean isHere =
        host.equals("localhost")
            || host.startsWith("127.")
            || host.replaceAll("[\\[\\]]", "").equals("::1");
    return (isHere ? ProcessIdentity.hostName() + "/" : "") + host + ":" + uri.getPort();
  }

  boolean hasSentinels() {
    return !sentinels.isEmpty();
  }

  /** Throws GameQueueException when no Sentinel answers within a second. */
  Sentinels.Named namedBySentinel() {
    return sentinels.primary(Sentinels.PATIENCE_MILLIS);
  }

  private void readPassword() {
    sentinels.readPassword();
    if (credentials != null) {
      credentials.read();
    }
  }

  /** For channels; throws as opening does. For the redis packages. */
  public StatefulRedisPubSubConnection<String, String> openPubSub() {
    readPassword();
    try {
      return client.connectPubSub(StringCodec.ASCII);
    } catch (RedisException e) {
      throw cannotConnect(e);
    }
  }

  /**
   * A {@link RedisUnavailableException}, unless Redis answered and refused, or is not to be
   * trusted.
   */
  private GameQueueException cannotConnect(RedisException e) {
    Throwable root = e;
    while (root.getCause() != null && root.getCause() != root) {
      root = root.getCause();
    }
    String untrusted = TlsRefusal.reason(e);
    if (untrusted != null) {
      return new GameQueueException("Redis at %s: %s".formatted(where, untrusted), e);
    }
    String reason = String.valueOf(root.getMessage());
    String answer = RedisReply.answered(root);
    String remedy =
        reason.contains("WRONGPASS")
                || reason.contains("NOAUTH")
                || reason.toLowerCase(Locale.ROOT).contains("password")
            ? "check the login of " + login.described()
            : uri.isSsl()
                ? "check that it runs, that this host may reach it, and that it speaks TLS on this"
                    + " port"
                : "check that it runs and that this host may reach it";
    String message = "cannot connect to Redis at " + where + ": " + reason + ": " + remedy;
    return answer == null || RedisReply.isAway(answer)
        ? new RedisUnavailableException(message, e)
        : new GameQueueException(message, e);
  }

  /** A Redis URI without its user and password. */
  static String redacted(String uri) {
    return uri.replaceAll("//.*@", "//"); // to the last @: a password may hold a slash
  }

  /** Ends all connections of this connector; waits up to two seconds. */
  @Override
  public void close() {
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    names.close();
    Future<Boolean> unused = resources.shutdown(0, 2, TimeUnit.SECONDS);
  }
}
