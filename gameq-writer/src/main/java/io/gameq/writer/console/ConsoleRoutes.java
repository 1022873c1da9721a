package io.gameq.writer.console;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.RedisUnavailableException;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.terminal.ErrorLine;
import io.gameq.writer.config.AccessToken;
import io.gameq.writer.config.AccessToken.TokenRole;
import io.gameq.writer.config.WriterConfig.ConsoleMode;
import io.gameq.writer.config.WriterConfig.HttpSettings;
import io.gameq.writer.console.ConsoleSessions.ConsoleSession;
import io.gameq.writer.http.AccessTokens;
import io.gameq.writer.http.HttpEndpoint;
import io.javalin.config.RoutesConfig;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.ConflictResponse;
import io.javalin.http.Context;
import io.javalin.http.ForbiddenResponse;
import io.javalin.http.HandlerType;
import io.javalin.http.ServiceUnavailableResponse;
import io.javalin.http.UnauthorizedResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The console's routes, each with what it needs; signs visitors in. Thread-safe once all routes are
 * added.
 *
 * <p>Answers are JSON; versions as text, since a browser's numbers lose digits. A server that is
 * away is told with 503, bad input with 400, both in one line of text.
 */
final class ConsoleRoutes {
  private static final Logger LOG = LoggerFactory.getLogger(ConsoleRoutes.class);

  private static final String API = "/console/api/";

  /** What browsers are told to refuse: all but our own files and answers. */
  private static final Map<String, String> HEADERS =
      Map.of(
          // No script or style within the page, none made from text; no frame of another page.
          "Content-Security-Policy",
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src"
              + " 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
              + " require-trusted-types-for 'script'; trusted-types 'none'",
          "X-Content-Type-Options",
          "nosniff",
          "X-Frame-Options",
          "DENY",
          "Referrer-Policy",
          "no-referrer",
          "Cross-Origin-Opener-Policy",
          "same-origin",
          "Cross-Origin-Resource-Policy",
          "same-origin",
          "Permissions-Policy",
          "camera=(), geolocation=(), microphone=(), payment=()",
          "Cache-Control",
          "no-store");

  private static final int MOST_NAME_CHARS = 60;
  private static final Pattern NOT_A_NAME = Pattern.compile("[\\p{Cntrl}\\p{Cf}]");

  private static final ObjectMapper JSON = new ObjectMapper();

  private final RoutesConfig routes;
  private final AccessTokens tokens;
  private final ConsoleSessions sessions;
  private final ConsoleMode mode;
  private final boolean isTls;

  /** Cookies know no ports: all writers of a namespace on a host share it, other games' do not. */
  private final String cookieName;

  /** What a request needs to be let in. */
  enum Access {
    NOTHING,
    /** A session, where there are tokens. */
    LOOK,
    /** A session, whose token the request carries. */
    SESSION,
    /** The same, and a form that was not sent before; the answer audits what it shows. */
    VALUES,
    /** The same, and a role that acts; the answer audits it before it does it. */
    ACT
  }

  /**
   * Adds what signs in and out.
   *
   * @param audit told who signed in, with which role; a session is opened though it fails, since a
   *     console is needed most when servers are away
   */
  ConsoleRoutes(
      RoutesConfig routes,
      HttpSettings settings,
      String namespace,
      Clock clock,
      BiConsumer<Actor, String> audit) {
    this.routes = routes;
    this.tokens = new AccessTokens(settings.tokens());
    this.sessions = new ConsoleSessions(tokens, namespace, clock);
    this.mode = settings.console();
    this.isTls = settings.tls() != null;
    this.cookieName = "gameq-" + namespace;
    routes.before("/console*", context -> HEADERS.forEach(context::header));
    add(HandlerType.GET, "session", Access.NOTHING, request -> state(request.session()));
    add(HandlerType.POST, "session", Access.NOTHING, request -> signIn(request, audit));
    add(HandlerType.POST, "sign-out", Access.SESSION, this::signOut);
    add(HandlerType.POST, "form", Access.SESSION, of -> Map.of("id", session(of).forms().next()));
  }

  /** Adds an answer: a GET to look, else a POST. */
  void add(Access needs, String path, Function<ConsoleRequest, Object> answer) {
    add(
        needs == Access.LOOK ? HandlerType.GET : HandlerType.POST,
        path,
        needs,
        request -> {
          request.requireAllTopics();
          return answer.apply(request);
        });
  }

  /** The same of the topic that the request names. */
  void addOfTopic(Access needs, String path, BiFunction<ConsoleRequest, String, Object> answer) {
    add(
        needs == Access.LOOK ? HandlerType.GET : HandlerType.POST,
        path,
        needs,
        request -> answer.apply(request, request.topic()));
  }

  /** Adds something to look at that shows only what the visitor's token is for. */
  void addOfVisitor(String path, Function<ConsoleRequest, Object> answer) {
    add(HandlerType.GET, path, Access.LOOK, answer);
  }

  private void add(
      HandlerType method, String path, Access needs, Function<ConsoleRequest, Object> answer) {
    routes.addHttpHandler(
        method,
        API + path,
        context -> {
          boolean changes = method.equals(HandlerType.POST);
          HttpEndpoint.requireOwnPage(context, changes);
          ConsoleSession session = sessions.find(context.cookie(cookieName));
          ConsoleRequest request =
              changes
                  ? ConsoleRequest.ofBody(context, session)
                  : ConsoleRequest.ofQuery(context, session);
          require(request, needs);
          context
              .contentType("application/json")
              .result(JSON.<JsonNode>valueToTree(answered(request, answer)).toString());
        });
  }

  private static Object answered(ConsoleRequest request, Function<ConsoleRequest, Object> answer) {
    try {
      return answer.apply(request);
    } catch (MySqlException | RedisUnavailableException e) {
      throw new ServiceUnavailableResponse(ErrorLine.of(e));
    } catch (GameQueueException e) {
      throw new BadRequestResponse(ErrorLine.of(e));
    }
  }

  private void require(ConsoleRequest request, Access needs) {
    ConsoleSession session = request.session();
    if (needs == Access.NOTHING
        || (needs == Access.LOOK && (session != null || tokens.isEmpty()))) {
      return;
    }
    if (session == null) {
      throw tokens.isEmpty()
          ? new ForbiddenResponse(whyNot(null))
          : new UnauthorizedResponse("sign in first");
    }
    if (needs == Access.ACT && !whyNot(session).isEmpty()) {
      throw new ForbiddenResponse(whyNot(session));
    }
    if (!isEqual(session.csrf(), header(request.context(), "X-Gameq-Csrf"))) {
      throw new ForbiddenResponse(
          "the request lacks the token of this session: load the page again");
    }
    if (needs != Access.SESSION
        && !session.forms().use(header(request.context(), "X-Gameq-Form"))) {
      throw new ConflictResponse("this form was sent before, or is too old: open it again");
    }
  }

  private static boolean isEqual(String expected, String given) {
    return MessageDigest.isEqual(
        expected.getBytes(StandardCharsets.US_ASCII), given.getBytes(StandardCharsets.US_ASCII));
  }

  private static String header(Context context, String name) {
    return Objects.requireNonNullElse(context.header(name), "");
  }

  private static ConsoleSession session(ConsoleRequest request) {
    return Objects.requireNonNull(request.session());
  }

  /** What a page needs to know of its visitor. */
  private Object state(@Nullable ConsoleSession session) {
    String whyNot = whyNot(session);
    return Map.of(
        "asksForToken",
        !tokens.isEmpty(), // nothing is shown without a session
        "isSignedIn",
        session != null,
        "who",
        session == null ? "" : session.who(),
        "mayRead",
        session != null, // values of rows, when asked for
        "mayAct",
        whyNot.isEmpty(),
        "whyNot",
        whyNot,
        "topics",
        session == null ? List.of() : session.token().topics(), // alone; empty: all
        "csrf",
        session == null ? "" : session.csrf()); // for each changing request
  }

  /** Why a visitor may not act, with the remedy; empty when they may. */
  private String whyNot(@Nullable ConsoleSession session) {
    if (mode != ConsoleMode.ACT) {
      return "this console is for looking only (setting 'http.console')";
    }
    if (tokens.isEmpty()) {
      return "without a token this console is for looking only: set http.tokenFile";
    }
    if (session == null) {
      return "sign in first";
    }
    return session.token().role() == TokenRole.ACT ? "" : "your token is for looking only";
  }

  private Object signIn(ConsoleRequest request, BiConsumer<Actor, String> audit) {
    String name = request.text("name", MOST_NAME_CHARS);
    if (NOT_A_NAME.matcher(name).find()) {
      throw new BadRequestResponse("a name has no control characters");
    }
    String address = request.context().ip();
    AccessToken token = tokens.find(request.text("token"));
    if (token == null) {
      tokens.refuseGuesses(address);
      tokens.countWrong(address);
      LOG.warn("a wrong token was given to the console, from {}", address);
      throw new UnauthorizedResponse("that is not a token of this writer");
    }
    if (token.role() == TokenRole.MESSAGES) {
      throw new UnauthorizedResponse(
          "that token is for programs: it does not sign in to a console");
    }
    ConsoleSession session = sessions.open(name, token);
    try {
      Actor actor = ConsoleRequest.ofQuery(request.context(), session).actor();
      audit.accept(actor, token.role().name());
    } catch (RuntimeException e) {
      LOG.warn("{} signed in from {}, which the audit log does not have", name, address, e);
    }
    setCookie(request.context(), session.cookie(), ConsoleSessions.LIFE_SECONDS);
    return state(session);
  }

  private Object signOut(ConsoleRequest request) {
    sessions.end(session(request));
    setCookie(request.context(), "", 0);
    return state(null);
  }

  private void setCookie(Context context, String value, long seconds) {
    boolean isSecure = isTls || context.scheme().equals("https");
    context.header(
        "Set-Cookie",
        "%s=%s; Path=/console; Max-Age=%s; HttpOnly; SameSite=Strict%s"
            .formatted(cookieName, value, seconds, isSecure ? "; Secure" : ""));
  }
}
