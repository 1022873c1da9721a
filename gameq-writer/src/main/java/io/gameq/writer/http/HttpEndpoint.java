package io.gameq.writer.http;

import io.gameq.GameQueueException;
import io.gameq.writer.config.HttpSettings;
import io.gameq.writer.config.TlsFiles;
import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.HttpStatus;
import io.javalin.http.MisdirectedRequestResponse;
import io.javalin.util.JavalinBindException;
import io.javalin.util.JavalinLogger;
import java.security.KeyStore;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.eclipse.jetty.server.ForwardedRequestCustomizer;

/** The HTTP server of a writer. Thread-safe. */
public final class HttpEndpoint implements AutoCloseable {
  private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

  private final Javalin server;

  /**
   * What is shown.
   *
   * @param isAlive false when the process is to be ended
   * @param problems why rows are not written now; empty when they are
   * @param metrics all meters, in Prometheus' text format
   */
  public record Shown(
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
      HttpSettings settings, Shown shown, Consumer<RoutesConfig> further) {
    if (settings.tokens().isEmpty() && !AccessRules.isLoopback(settings.address())) {
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
      KeyStore unused = PemKeys.read(tls); // what is wrong with them is said before Jetty starts
    }
    Javalin server =
        Javalin.create(
            config -> {
              quiet(config);
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

  private static void quiet(JavalinConfig config) {
    config.startup.showJavalinBanner = false;
    config.startup.showOldJavalinVersionWarning = false;
  }

  private static void routes(JavalinConfig config, HttpSettings settings, Shown shown) {
    AccessRules rules = new AccessRules(settings);
    Bearers bearers = new Bearers(new AccessTokens(settings.tokens()));
    config.routes.before(
        context -> {
          if (!rules.isOurHost(context.header("Host"))) {
            throw new MisdirectedRequestResponse("the Host header names another host");
          }
        });
    config.routes.get("/live", context -> alive(context, shown.isAlive().getAsBoolean()));
    config.routes.get(
        "/ready", context -> ready(context, shown.problems().get(), bearers.isLetIn(context)));
    config.routes.get(
        "/metrics",
        context -> {
          bearers.require(context);
          context.contentType(PROMETHEUS).result(shown.metrics().get());
        });
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
}
