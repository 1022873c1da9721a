package io.gameq.writer.http;

import io.gameq.GameQueueException;
import io.gameq.agent.RepeatedWarnings;
import io.gameq.tls.PemTls;
import io.gameq.writer.config.AccessToken;
import io.gameq.writer.config.WriterConfig.HttpSettings;
import io.gameq.writer.config.WriterConfig.TlsFiles;
import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.ForbiddenResponse;
import io.javalin.http.HttpStatus;
import io.javalin.http.MisdirectedRequestResponse;
import io.javalin.util.JavalinBindException;
import io.javalin.util.JavalinLogger;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.eclipse.jetty.server.ForwardedRequestCustomizer;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.component.AbstractLifeCycle;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.Scheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The HTTP server of a writer. Thread-safe. */
public final class HttpEndpoint implements AutoCloseable {
  private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

  private static final Set<String> LOOPBACK_NAMES = Set.of("localhost", "127.0.0.1", "[::1]");

  private final Javalin server;

  /**
   * What is shown.
   *
   * @param isAlive false when the process is to be ended
   * @param problems why rows are not written now; empty when they are
   * @param metrics all meters, in Prometheus' text format
   */
  public record EndpointContent(
      BooleanSupplier isAlive, Supplier<List<String>> problems, Supplier<String> metrics) {}

  private HttpEndpoint(Javalin server) {
    this.server = server;
  }

  /**
   * Starts to listen.
   *
   * @param further adds what else is answered, to those who ask by a Host that is this writer's
   * @throws GameQueueException when the address is taken or not this host's, or open to other hosts
   *     without a token, or certificate and key cannot be read
   */
  public static HttpEndpoint open(
      HttpSettings settings, EndpointContent shown, Consumer<RoutesConfig> further) {
    if (settings.tokens().isEmpty() && !isLoopback(settings.address())) {
      throw new GameQueueException(
          ("setting 'http.address' is %s, which other hosts reach: set http.tokenFile as well,"
                  + " or use 127.0.0.1")
              .formatted(settings.address()));
    }
    if (settings.tokens().isEmpty() && settings.isBehindProxy()) {
      throw new GameQueueException(
          "setting 'http.behindProxy' is true, so other hosts reach this writer: set http.tokenFile"
              + " as well");
    }
    TlsFiles tls = settings.tls();
    if (tls != null) {
      KeyStore unused =
          TlsConnector.read(tls); // what is wrong with them is said before Jetty starts
    }
    Javalin server =
        Javalin.create(
            config -> {
              config.startup.showJavalinBanner = false;
              config.startup.showOldJavalinVersionWarning = false;
              if (settings.isBehindProxy()) {
                config.jetty.modifyHttpConfiguration(
                    http -> http.addCustomizer(new ForwardedRequestCustomizer()));
              }
              if (tls != null) {
                config.jetty.addConnector(
                    (jetty, http) -> TlsConnector.of(settings, tls, jetty, http));
              }
              routes(config, settings, shown);
              further.accept(config.routes);
            });
    JavalinLogger.enabled = false; // it calls a taken port an error, which is for us to say
    try {
      return new HttpEndpoint(server.start(settings.address(), settings.port()));
    } catch (JavalinBindException e) {
      server.stop();
      throw new GameQueueException(
          "cannot listen on %s port %s (setting 'http.port'): it is taken, or not this host's"
              .formatted(settings.address(), settings.port()),
          e);
    } finally {
      JavalinLogger.enabled = true;
    }
  }

  private static void routes(JavalinConfig config, HttpSettings settings, EndpointContent shown) {
    AccessTokens tokens = new AccessTokens(settings.tokens());
    if (isLoopback(settings.address()) && !settings.isBehindProxy()) {
      config.routes.before(HttpEndpoint::requireOurHost);
    } // else there is a token, and a browser has the console's cookie by its name
    config.routes.get("/live", context -> alive(context, shown.isAlive().getAsBoolean()));
    config.routes.get(
        "/ready",
        context -> {
          boolean isLetIn = tokens.isEmpty() || tokens.find(context) != null;
          ready(context, shown.problems().get(), isLetIn);
        });
    config.routes.get(
        "/metrics",
        context -> {
          if (!tokens.isEmpty()) {
            AccessToken unused = tokens.require(context, "the token of http.tokenFile is needed");
          }
          context.contentType(PROMETHEUS).result(shown.metrics().get());
        });
  }

  /** Whether only this host can connect to an address. */
  private static boolean isLoopback(String address) {
    try {
      return InetAddress.getByName(address).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  /** A page from elsewhere whose name leads to the loopback address (DNS rebinding) has another. */
  private static void requireOurHost(Context context) {
    String host = Objects.requireNonNullElse(context.header("Host"), "");
    String name = host.replaceFirst(":\\d+$", "").toLowerCase(Locale.ROOT);
    if (!LOOPBACK_NAMES.contains(name)) {
      throw new MisdirectedRequestResponse("the Host header names another host");
    }
  }

  /**
   * Refuses a request that a page from elsewhere makes. Browsers say where a request comes from in
   * Origin, when it changes something, and in Sec-Fetch-Site.
   *
   * @param mustSay whether a request without Origin is refused
   */
  public static void requireOwnPage(Context context, boolean mustSay) {
    String site = context.header("Sec-Fetch-Site");
    String origin = context.header("Origin");
    boolean isOwn = origin == null ? !mustSay : origin.equals(origin(context));
    if (!isOwn || (site != null && !site.equals("same-origin"))) {
      throw new ForbiddenResponse("this request does not come from the console's own page");
    }
  }

  /** As a browser names it; behind a proxy, the one that the proxy was asked by. */
  private static String origin(Context context) {
    String url = context.url();
    int path = url.indexOf('/', url.indexOf("//") + 2);
    return path < 0 ? url : url.substring(0, path);
  }

  private static void alive(Context context, boolean isAlive) {
    context.status(isAlive ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    context.result(isAlive ? "alive\n" : "no worker runs any more: restart this writer\n");
  }

  /** Why not may name servers: it is said to whoever has the token. */
  private static void ready(Context context, List<String> problems, boolean hasToken) {
    context.status(problems.isEmpty() ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    if (problems.isEmpty()) {
      context.result("ready\n");
    } else {
      context.result(hasToken ? String.join("\n", problems) + "\n" : "not ready\n");
    }
  }

  /** Where it listens: the one that was given, or, for 0, the one that was free. */
  public int port() {
    return server.port();
  }

  @Override
  public void close() {
    server.stop();
  }

  /** Has Jetty speak HTTPS. Stateless. */
  static final class TlsConnector {
    private static final Logger LOG = LoggerFactory.getLogger(TlsConnector.class);

    private static final long RENEWAL_SECONDS = 10;
    private static final long WARN_EVERY_SECONDS = 60;

    /** In memory only. */
    private static final String PASSWORD = "in-memory";

    private TlsConnector() {}

    /**
     * A key store with the one key, of PEM files as Let's Encrypt writes them.
     *
     * @throws GameQueueException naming the setting, when a file cannot be read or is not what it
     *     should be, or certificate and key do not belong together
     */
    static KeyStore read(TlsFiles files) {
      List<? extends Certificate> chain = named("certFile", PemTls::certificates, files.certFile());
      PrivateKey key = named("keyFile", PemTls::key, files.keyFile());
      try {
        return PemTls.keyStore(key, chain, PASSWORD.toCharArray());
      } catch (GeneralSecurityException e) {
        throw new GameQueueException(
            "settings 'http.tls.certFile' and 'http.tls.keyFile' do not go together", e);
      }
    }

    private static <T> T named(String setting, Function<Path, T> read, Path file) {
      try {
        return read.apply(file);
      } catch (GameQueueException e) {
        throw new GameQueueException(
            "setting 'http.tls.%s': %s".formatted(setting, e.getMessage()), e);
      }
    }

    /**
     * The connector.
     *
     * @throws io.gameq.GameQueueException when certificate or key cannot be read
     */
    static ServerConnector of(
        HttpSettings settings, TlsFiles files, Server server, HttpConfiguration http) {
      SslContextFactory.Server tls = new SslContextFactory.Server();
      CertificateReload renewal =
          new CertificateReload(files, tls, server.getScheduler()); // before they are read
      tls.setKeyStore(TlsConnector.read(files));
      tls.setKeyStorePassword(PASSWORD);
      tls.setIncludeProtocols("TLSv1.3", "TLSv1.2");
      HttpConfiguration secure = new HttpConfiguration(http);
      // Which Host is ours is said above: a writer is also asked by its address.
      secure.addCustomizer(new SecureRequestCustomizer(false));
      ServerConnector connector =
          new ServerConnector(
              server, new SslConnectionFactory(tls, "http/1.1"), new HttpConnectionFactory(secure));
      connector.setHost(settings.address());
      connector.setPort(settings.port());
      connector.addBean(renewal);
      return connector;
    }

    /** Takes a certificate that was renewed, for connections that come from then on. */
    private static final class CertificateReload extends AbstractLifeCycle implements Runnable {
      private final TlsFiles files;
      private final SslContextFactory.Server tls;
      private final Scheduler scheduler;
      private final RepeatedWarnings warnings = new RepeatedWarnings(WARN_EVERY_SECONDS);
      private List<FileTime> taken;

      CertificateReload(TlsFiles files, SslContextFactory.Server tls, Scheduler scheduler) {
        this.files = files;
        this.tls = tls;
        this.scheduler = scheduler;
        this.taken = written();
      }

      private List<FileTime> written() {
        try {
          return List.of(
              Files.getLastModifiedTime(files.certFile()),
              Files.getLastModifiedTime(files.keyFile()));
        } catch (IOException e) { // while they are replaced
          return List.of();
        }
      }

      @Override
      protected void doStart() {
        lookLater();
      }

      private void lookLater() {
        Scheduler.Task unused = scheduler.schedule(this, RENEWAL_SECONDS, TimeUnit.SECONDS);
      }

      @Override
      public void run() {
        List<FileTime> now = written();
        if (!now.equals(taken) && !now.isEmpty()) {
          try {
            KeyStore renewed = TlsConnector.read(files);
            tls.reload(of -> of.setKeyStore(renewed));
            LOG.info("HTTPS: the certificate in {} is taken from now on", files.certFile());
            taken = now;
          } catch (Exception e) { // Jetty throws what it likes
            warnings.about(
                "certificate", LOG::warn, () -> "HTTPS goes on with the certificate before: " + e);
          }
        }
        if (isRunning()) {
          lookLater();
        }
      }
    }
  }
}
