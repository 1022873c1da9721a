package io.gameq.redis;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.config.Password;
import io.gameq.config.Tls;
import io.gameq.redis.RedisConnector.FreshCredentials;
import io.gameq.redis.RedisConnector.RedisLogin;
import io.gameq.sign.ProcessIdentity;
import io.gameq.term.Term.Primary;
import io.gameq.tls.PemTls;
import io.gameq.tls.TlsRefusal;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider.ImmediateRedisCredentialsProvider;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.Transports;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import io.lettuce.core.sentinel.api.async.RedisSentinelAsyncCommands;
import io.netty.resolver.HostsFileEntriesProvider;
import io.netty.resolver.HostsFileEntriesResolver;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import io.netty.resolver.dns.NoopDnsCache;
import io.netty.resolver.dns.NoopDnsCnameCache;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
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
  /** Of a connection whose failure lettuce cannot explain; see {@link #hasLostItsReason}. */
  private static final int MOST_TRIES = 3;

  /** Commands that may wait for replies on one connection; beyond it the client refuses. */
  private static final int REQUEST_QUEUE_SIZE = 200_000;

  private final DefaultEventLoopGroupProvider loops;
  private final DnsAddressResolverGroup names = HostNames.resolver();
  private final ClientResources resources;
  private final RedisClient client;
  private final RedisURI uri;
  private final Sentinels sentinels;
  private final RedisConfig config;
  private final @Nullable FreshCredentials credentials;

  /** A connector whose connections share as many threads as there are cores. */
  public RedisConnector(RedisConfig config) {
    this(config, Math.max(2, Runtime.getRuntime().availableProcessors()));
  }

  /** A connector whose connections share a number of threads. */
  RedisConnector(RedisConfig config, int threads) {
    this.config = config;
    try {
      uri = RedisURI.create(config.uri());
    } catch (IllegalArgumentException e) {
      throw new GameQueueException(
          "redis uri '"
              + redacted(config.uri())
              + "' is not of the form redis://host:port or"
              + " redis-sentinel://host:port,host:port#primary");
    }
    SslOptions ssl = ssl(config.tls());
    credentials = config.login().credentials();
    prepareUri();
    uri.setTimeout(Duration.ofMillis(config.timeoutMillis()));
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
            .sslOptions(ssl)
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

  /**
   * The files are read for each connection; what is wrong with them is told before one is opened.
   */
  private static SslOptions ssl(@Nullable Tls tls) {
    SslOptions.Builder ssl = SslOptions.builder().jdkSslProvider();
    if (tls == null) {
      return ssl.build();
    }
    SSLContext unused = PemTls.context(tls.caFile(), tls.clientFile());
    if (tls.caFile() != null) {
      ssl.trustManager(tls.caFile().toFile());
    }
    if (tls.clientFile() != null) {
      ssl.keyManager(tls.clientFile().toFile(), tls.clientFile().toFile(), new char[0]);
    }
    return ssl.build();
  }

  /** A connector whose connections share one thread; see {@link #eventLoop}. */
  public static RedisConnector ofOneThread(RedisConfig config) {
    return new RedisConnector(config, 1);
  }

  /** One of the threads. */
  public ScheduledExecutorService eventLoop() {
    return loops.allocate(Transports.eventLoopGroupClass()).next();
  }

  /**
   * Opens a connection to the primary.
   *
   * @throws RedisUnavailableException when it is away; the message names the address
   * @throws GameQueueException when it refuses the login; the message never names the password
   */
  public RedisConnection open() {
    return new RedisConnection(connect(() -> client.connect(ByteArrayCodec.INSTANCE)));
  }

  private <T> T connect(Supplier<T> connects) {
    sentinels.readPassword();
    if (credentials != null) {
      credentials.read();
    }
    for (int left = MOST_TRIES; ; left--) {
      try {
        return connects.get();
      } catch (RedisException e) {
        if (left == 1 || !hasLostItsReason(e)) {
          throw cannotConnect(e);
        }
      }
    }
  }

  /** Lettuce says so when the server closed the connection, as after a refused login, too soon. */
  private static boolean hasLostItsReason(RedisException e) {
    return e.getCause() instanceof IllegalStateException cause
        && String.valueOf(cause.getMessage()).contains("not registered");
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
    return new RedisConnection(connect(() -> client.connect(ByteArrayCodec.INSTANCE, primary)));
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

  /** For channels; throws as opening does. For the redis packages. */
  public StatefulRedisPubSubConnection<String, String> openPubSub() {
    return connect(() -> client.connectPubSub(StringCodec.ASCII));
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
      return new GameQueueException(
          "Redis at %s: %s".formatted(redacted(config.uri()), untrusted), e);
    }
    String reason = String.valueOf(root.getMessage());
    String answer = RedisReply.answered(root);
    String message =
        "cannot connect to Redis at %s: %s: %s"
            .formatted(redacted(config.uri()), reason, remedy(reason));
    return answer == null || RedisReply.isAway(answer)
        ? new RedisUnavailableException(message, e)
        : new GameQueueException(message, e);
  }

  private String remedy(String reason) {
    if (reason.contains("without any password configured")) {
      return "this Redis wants no password: remove that of the configuration, or set requirepass";
    }
    if (reason.contains("WRONGPASS")
        || reason.contains("NOAUTH")
        || reason.toLowerCase(Locale.ROOT).contains("password")) {
      return "check the login of " + config.login().described();
    }
    return uri.isSsl()
        ? "check that it runs, that this host may reach it, and that it speaks TLS on this port"
        : "check that it runs and that this host may reach it";
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

  /**
   * How long a reply may take. What gameq sends in a MULTI only is left to the EXEC behind it: a
   * timer for each command costs more than to send it. Immutable.
   */
  static final class ReplyTimeout extends TimeoutOptions.TimeoutSource {
    private static final Set<CommandType> IN_MULTI =
        EnumSet.of(CommandType.MULTI, CommandType.MGET, CommandType.HSET, CommandType.ZADD);

    private static final long NONE = -1;

    private final long millis;

    ReplyTimeout(long millis) {
      this.millis = millis;
    }

    @Override
    public long getTimeout(RedisCommand<?, ?, ?> command) {
      return command.getType() instanceof CommandType type && IN_MULTI.contains(type)
          ? NONE
          : millis;
    }

    @Override
    public TimeUnit getTimeUnit() {
      return TimeUnit.MILLISECONDS;
    }
  }

  /**
   * The addresses of hosts, asked for at each connection: a name that leads to another server after
   * a failover is followed at once, whatever its time to live. Stateless.
   */
  static final class HostNames {
    private HostNames() {}

    /** By the system's DNS servers, and its hosts file. */
    static DnsAddressResolverGroup resolver() {
      return resolver(DnsServerAddressStreamProviders.platformDefault());
    }

    static DnsAddressResolverGroup resolver(DnsServerAddressStreamProvider servers) {
      return new DnsAddressResolverGroup(
          new DnsNameResolverBuilder()
              .datagramChannelType(Transports.datagramChannelClass())
              .nameServerProvider(servers)
              .resolveCache(NoopDnsCache.INSTANCE)
              .cnameCache(NoopDnsCnameCache.INSTANCE)
              .hostsFileEntriesResolver(new HostsFile()));
    }

    /** Read for each name: the client reads it once. */
    private static final class HostsFile implements HostsFileEntriesResolver {
      @Override
      public @Nullable InetAddress address(String host, ResolvedAddressTypes types) {
        HostsFileEntriesProvider file = HostsFileEntriesProvider.parser().parseSilently();
        String name = host.toLowerCase(Locale.ROOT);
        return Stream.of(file.ipv4Entries(), file.ipv6Entries())
            .map(entries -> first(entries, name))
            .flatMap(Stream::ofNullable)
            .findFirst()
            .orElse(null);
      }

      private static @Nullable InetAddress first(
          Map<String, List<InetAddress>> entries, String name) {
        List<InetAddress> of = entries.getOrDefault(name, List.of());
        return of.isEmpty() ? null : of.get(0);
      }
    }
  }

  /**
   * Where Redis is, and who logs in; immutable.
   *
   * @param uri {@code redis://host:port/db} or {@code redis-sentinel://h1:p,h2:p/db#primary};
   *     {@code rediss} in place of {@code redis} for TLS, always with the server's certificate
   *     checked
   * @param login to Redis
   * @param sentinel the login to the Sentinels themselves
   * @param tls whom to trust; null: the CAs that the JVM trusts
   * @param timeoutMillis how long a command may take before the connection is given up
   */
  public record RedisConfig(
      String uri, RedisLogin login, RedisLogin sentinel, @Nullable Tls tls, int timeoutMillis) {
    /**
     * Longer than any script or MULTI of gameq takes; shorter than a lease. The system property is
     * for tests on a machine that stands still for seconds.
     */
    public static final int DEFAULT_TIMEOUT_MILLIS =
        Integer.getInteger("gameq.redisTimeoutMillis", 5_000);

    public RedisConfig {
      if (tls != null && !uri.startsWith("rediss")) {
        throw new GameQueueException(
            "TLS is set for Redis and its URI is without: begin the URI with rediss:// or"
                + " rediss-sentinel://");
      }
      if (isUserAlone(login) || isUserAlone(sentinel)) {
        throw new GameQueueException(
            "a user is set for Redis or its Sentinels without a password: set the password, or its"
                + " file, too");
      }
      login = login.orOf(uri);
    }

    /**
     * Without TLS files, and without a user beside the URI's.
     *
     * @param password null when there is none, or when the URI carries it
     */
    public RedisConfig(String uri, @Nullable String password, int timeoutMillis) {
      this(
          uri,
          new RedisLogin(null, password == null ? null : Password.of(password)),
          RedisLogin.NONE,
          null,
          timeoutMillis);
    }

    /** The same with {@link #DEFAULT_TIMEOUT_MILLIS}, and no password beside the URI's. */
    public RedisConfig(String uri) {
      this(uri, null, DEFAULT_TIMEOUT_MILLIS);
    }

    private static boolean isUserAlone(RedisLogin of) {
      return of.user() != null && of.password() == null;
    }

    @Override
    public String toString() {
      return "RedisConfig[" + RedisConnector.redacted(uri) + "]";
    }
  }

  /**
   * Who logs in to Redis or to a Sentinel; immutable.
   *
   * @param user null: the default user
   * @param password null: no login
   */
  public record RedisLogin(@Nullable String user, @Nullable Password password) {
    public static final RedisLogin NONE = new RedisLogin(null, null);

    private static final Pattern LOGIN_OF_URI = Pattern.compile("[a-z-]+://(.*)@.*");

    /**
     * The same with what it lacks from the URI: {@code user:password@}, {@code :password@} or
     * {@code password@}; where this has a password, {@code user@} too.
     */
    RedisLogin orOf(String uri) {
      Matcher found = LOGIN_OF_URI.matcher(uri);
      if (!found.matches()) {
        return this;
      }
      String[] parts = found.group(1).split(":", 2);
      if (password != null) {
        return user != null || parts[0].isEmpty()
            ? this
            : new RedisLogin(decoded(parts[0]), password);
      }
      Password ofUri =
          Password.from("the URI", () -> decoded(parts.length == 1 ? parts[0] : parts[1]));
      return parts.length == 1 || parts[0].isEmpty()
          ? new RedisLogin(null, ofUri)
          : new RedisLogin(decoded(parts[0]), ofUri);
    }

    /** A plus sign is one in this part of a URI. */
    private static String decoded(String text) {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    @Nullable FreshCredentials credentials() {
      return password == null ? null : new FreshCredentials(user, password);
    }

    /** For messages: {@code user 'node' with the password of file /run/secrets/redis}. */
    String described() {
      return "%s with %s"
          .formatted(
              user == null ? "the default user" : "user '" + user + "'",
              password == null ? "no password" : "the password of " + password.source());
    }
  }

  /**
   * The login of the next connection. Thread-safe. Whoever is about to connect reads it again: on
   * the thread that waits anyway, since a file or a vault may be slow, and the client asks on the
   * thread of all connections.
   *
   * <p>The client must have it at once: for a login that may come later it goes on in another
   * thread, and says that a connection is there before commands can be sent on it.
   */
  static final class FreshCredentials implements ImmediateRedisCredentialsProvider {
    private final @Nullable String user;
    private final Password password;
    private volatile RedisCredentials latest;

    /** Reads nothing yet. */
    FreshCredentials(@Nullable String user, Password password) {
      this.user = user;
      this.password = password;
      this.latest = RedisCredentials.just(user, new char[0]);
    }

    /**
     * Reads the password.
     *
     * @throws io.gameq.GameQueueException when it cannot be read, naming where it should come from
     */
    void read() {
      latest = RedisCredentials.just(user, password.read().toCharArray());
    }

    @Override
    public RedisCredentials resolveCredentialsNow() {
      return latest;
    }
  }

  /**
   * Asks all Sentinels at once which primary they name, and believes the one that knows of the
   * newest failover: one that was cut off may name a primary that was demoted. Thread-safe.
   */
  static final class Sentinels {
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
     * @param firstMillis how long the first answer may take: more than a second where the process
     *     has just started, on a busy host
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
          throw new GameQueueException(
              "a Sentinel of '%s': %s".formatted(primaryName(), untrusted));
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
}
