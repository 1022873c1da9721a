package io.gameq.writer.console;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.RedisUnavailableException;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.terminal.ErrorLine;
import io.gameq.writer.config.AccessToken;
import io.gameq.writer.config.AccessToken.Role;
import io.gameq.writer.config.WriterConfig.ConsoleMode;
import io.gameq.writer.config.WriterConfig.HttpSettings;
import io.gameq.writer.console.Sessions.SignedIn;
import io.gameq.writer.http.AccessTokens;
import io.gameq.writer.http.HttpEndpoint.WrongTokens;
import io.gameq.writer.http.OwnPage;
import io.javalin.config.RoutesConfig;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.ConflictResponse;
import io.javalin.http.Context;
import io.javalin.http.ForbiddenResponse;
import io.javalin.http.ServiceUnavailableResponse;
import io.javalin.http.TooManyRequestsResponse;
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
 * The console's routes, each with what it needs. Thread-safe once all are added.
 *
 * <p>Answers are records, as JSON; versions as text, since a browser's numbers lose digits. A
 * server that is away is told with 503, bad input with 400, both in one line of text.
 */
public final class GuardedRoutes {
  private static final String API = "/console/api/";

  /** The names of the two headers of changing requests. */
  static final String CSRF = "X-Gameq-Csrf";

  static final String FORM = "X-Gameq-Form";

  /** Whoever gives more is told by the topic itself. */
  private static final int MOST_TOPIC_CHARS = 1_000;

  private static final ObjectMapper JSON = new ObjectMapper();

  private final RoutesConfig routes;
  private final SigningIn signingIn;

  /** Answers a request that was let in. */
  public interface Answer {
    Object to(RequestBody body, Visitor visitor);
  }

  /** The same of a topic that the visitor's token is for. */
  public interface TopicAnswer {
    Object to(RequestBody body, Visitor visitor, String topic);
  }

  /** What a request that changes something needs beyond a session. */
  private enum Needs {
    SESSION,
    /** Each form is sent once. */
    FORM,
    /** The same, and a token that allows it. */
    ACT
  }

  public GuardedRoutes(
      RoutesConfig routes,
      HttpSettings settings,
      String namespace,
      Clock clock,
      BiConsumer<Actor, String> audit) {
    this.routes = routes;
    this.signingIn = new SigningIn(settings, namespace, clock);
    routes.before("/console*", BrowserRules::addHeaders);
    routes.get(API + "session", context -> json(context, asked(context, signingIn::state)));
    routes.post(
        API + "session",
        context -> {
          OwnPage.require(context, true);
          json(context, signingIn.signIn(context, RequestBody.of(context), audit));
        });
    routes.post(
        API + "sign-out",
        context ->
            json(context, signingIn.signOut(context, changing(context, Needs.SESSION).session)));
    routes.post(
        API + "form",
        context -> {
          SignedIn session = changing(context, Needs.SESSION).session;
          json(context, Map.of("id", session.forms().next()));
        });
  }

  /** Adds something to look at, for whoever is let in. */
  public void look(String path, Function<Context, Object> answer) {
    look(
        path,
        (context, visitor) -> {
          visitor.requireAll();
          return answer.apply(context);
        });
  }

  /** Adds something that shows only what the visitor's token is for. */
  public void look(String path, BiFunction<Context, Visitor, Object> answer) {
    routes.get(
        API + path,
        context ->
            json(
                context,
                asked(
                    context,
                    of -> {
                      SignedIn session = signingIn.session(of);
                      if (signingIn.asksForToken() && session == null) {
                        throw new UnauthorizedResponse("sign in first");
                      }
                      return answer.apply(
                          of, session == null ? Visitor.NOBODY : SigningIn.visitor(session, of));
                    })));
  }

  /** Adds something to look at of the topic that the path names. */
  public void lookAtTopic(String path, BiFunction<Context, String, Object> answer) {
    look(
        path,
        (context, visitor) -> {
          String topic = context.pathParam("topic");
          visitor.require(topic);
          return answer.apply(context, topic);
        });
  }

  /** Adds something that shows values of rows: it needs a session, and the answer audits it. */
  public void values(String path, Answer answer) {
    post(path, Needs.FORM, ofAll(answer));
  }

  /** The same of the topic that the body names. */
  public void valuesOfTopic(String path, TopicAnswer answer) {
    post(path, Needs.FORM, ofTopic(answer));
  }

  /** Adds something that changes something: the answer audits it before it does it. */
  public void act(String path, Answer answer) {
    post(path, Needs.ACT, ofAll(answer));
  }

  /** The same with the topic that the body names. */
  public void actOnTopic(String path, TopicAnswer answer) {
    post(path, Needs.ACT, ofTopic(answer));
  }

  private static Answer ofAll(Answer answer) {
    return (body, visitor) -> {
      visitor.requireAll();
      return answer.to(body, visitor);
    };
  }

  private static Answer ofTopic(TopicAnswer answer) {
    return (body, visitor) -> {
      String topic = body.text("topic", MOST_TOPIC_CHARS);
      visitor.require(topic);
      return answer.to(body, visitor, topic);
    };
  }

  private void post(String path, Needs needs, Answer answer) {
    routes.post(
        API + path,
        context ->
            json(
                context,
                asked(
                    context,
                    of -> {
                      Changing request = changing(of, needs);
                      return answer.to(request.body, SigningIn.visitor(request.session, of));
                    })));
  }

  private record Changing(RequestBody body, SignedIn session) {}

  /** A request that may change what it asks to. */
  private Changing changing(Context context, Needs needs) {
    OwnPage.require(context, true);
    RequestBody body = RequestBody.of(context);
    SignedIn session = signingIn.session(context);
    if (session == null) {
      throw signingIn.asksForToken()
          ? new UnauthorizedResponse("sign in first")
          : new ForbiddenResponse(signingIn.whyNot(null));
    }
    if (needs == Needs.ACT && !signingIn.whyNot(session).isEmpty()) {
      throw new ForbiddenResponse(signingIn.whyNot(session));
    }
    if (!isEqual(session.csrf(), context.header(CSRF))) {
      throw new ForbiddenResponse(
          "the request lacks the token of this session: load the page again");
    }
    if (needs != Needs.SESSION && !session.forms().use(header(context, FORM))) {
      throw new ConflictResponse("this form was sent before, or is too old: open it again");
    }
    return new Changing(body, session);
  }

  private static boolean isEqual(String expected, @Nullable String given) {
    return given != null
        && MessageDigest.isEqual(
            expected.getBytes(StandardCharsets.US_ASCII),
            given.getBytes(StandardCharsets.US_ASCII));
  }

  private static String header(Context context, String name) {
    return Objects.requireNonNullElse(context.header(name), "");
  }

  private static Object asked(Context context, Function<Context, Object> answer) {
    OwnPage.require(context, false);
    try {
      return answer.apply(context);
    } catch (MySqlException | RedisUnavailableException e) {
      throw new ServiceUnavailableResponse(ErrorLine.of(e));
    } catch (GameQueueException e) {
      throw new BadRequestResponse(ErrorLine.of(e));
    }
  }

  private static void json(Context context, Object answer) {
    context.contentType("application/json").result(JSON.<JsonNode>valueToTree(answer).toString());
  }

  /**
   * Who asks. Immutable.
   *
   * @param who the name given at sign-in, and that of the token
   * @param address from where
   * @param token with which they signed in
   */
  public record Visitor(String who, String address, AccessToken token) {
    /** Somebody who only looks, at what is not in the audit log. */
    public static final Visitor NOBODY = new Visitor("", "", new AccessToken("", Role.READ, ""));

    /** Refuses a token that is for some topics, where something else is asked for. */
    void requireAll() {
      if (!token.topics().isEmpty()) {
        throw new ForbiddenResponse(
            "your token is for topics " + String.join(" ", token.topics()) + " alone");
      }
    }

    /** Refuses a token that is not for a topic. */
    void require(String topic) {
      if (!token.allows(topic)) {
        requireAll();
      }
    }

    /** As the audit log names them. */
    public Actor actor() {
      return new Actor(who, "console " + address);
    }
  }

  /** What browsers are told to refuse. Stateless. */
  static final class BrowserRules {
    /**
     * Only our own files and answers; no script or style within the page, none made from text; no
     * page of others shows ours in a frame.
     */
    private static final String CONTENT_SECURITY_POLICY =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src"
            + " 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
            + " require-trusted-types-for 'script'; trusted-types 'none'";

    private static final Map<String, String> HEADERS =
        Map.ofEntries(
            Map.entry("Content-Security-Policy", CONTENT_SECURITY_POLICY),
            Map.entry("X-Content-Type-Options", "nosniff"),
            Map.entry("X-Frame-Options", "DENY"),
            Map.entry("Referrer-Policy", "no-referrer"),
            Map.entry("Cross-Origin-Opener-Policy", "same-origin"),
            Map.entry("Cross-Origin-Resource-Policy", "same-origin"),
            Map.entry("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()"),
            Map.entry("Cache-Control", "no-store"));

    private BrowserRules() {}

    static void addHeaders(Context context) {
      HEADERS.forEach(context::header);
    }
  }

  /** Exchanges a token for a session. Thread-safe. */
  static final class SigningIn {
    private static final Logger LOG = LoggerFactory.getLogger(SigningIn.class);

    private static final int MOST_NAME_CHARS = 60;
    private static final int MOST_TOKEN_CHARS = 1_000;
    private static final Pattern NOT_A_NAME = Pattern.compile("[\\p{Cntrl}\\p{Cf}]");

    private final AccessTokens tokens;
    private final Sessions sessions;
    private final WrongTokens wrong;
    private final ConsoleMode mode;
    private final boolean isTls;

    /**
     * Cookies know no ports: all writers of a namespace on a host share it, another game's do not.
     */
    private final String cookieName;

    SigningIn(HttpSettings settings, String namespace, Clock clock) {
      tokens = new AccessTokens(settings.tokens());
      sessions = new Sessions(tokens, namespace, clock);
      cookieName = "gameq-" + namespace;
      wrong = new WrongTokens(clock);
      mode = settings.console();
      isTls = settings.tls() != null;
    }

    /**
     * What a page needs to know of its visitor.
     *
     * @param asksForToken whether nothing is shown without a session
     * @param mayRead whether values of rows are shown when asked for
     * @param topics of which alone something is shown; empty: everything is
     * @param csrf to be sent with each changing request; empty without a session
     */
    record State(
        boolean asksForToken,
        boolean isSignedIn,
        String who,
        boolean mayRead,
        boolean mayAct,
        String whyNot,
        List<String> topics,
        String csrf) {}

    State state(Context context) {
      return stateOf(session(context));
    }

    private State stateOf(@Nullable SignedIn session) {
      return new State(
          !tokens.isEmpty(),
          session != null,
          session == null ? "" : session.who(),
          session != null,
          session != null && whyNot(session).isEmpty(),
          whyNot(session),
          session == null ? List.of() : session.token().topics(),
          session == null ? "" : session.csrf());
    }

    /** Why a visitor may not act, with the remedy; empty when they may. */
    String whyNot(@Nullable SignedIn session) {
      if (mode != ConsoleMode.ACT) {
        return "this console is for looking only (setting 'http.console')";
      }
      if (tokens.isEmpty()) {
        return "without a token this console is for looking only: set http.tokenFile";
      }
      if (session == null) {
        return "sign in first";
      }
      return session.token().role() == Role.ACT ? "" : "your token is for looking only";
    }

    boolean asksForToken() {
      return !tokens.isEmpty();
    }

    @Nullable SignedIn session(Context context) {
      return sessions.find(context.cookie(cookieName));
    }

    /**
     * Signs in.
     *
     * @param audit told who did; a session is opened though it fails, since a console is needed
     *     most when servers are away
     */
    State signIn(Context context, RequestBody body, BiConsumer<Actor, String> audit) {
      String name = body.text("name", MOST_NAME_CHARS);
      if (NOT_A_NAME.matcher(name).find()) {
        throw new BadRequestResponse("a name has no control characters");
      }
      AccessToken token = tokens.find(body.text("token", MOST_TOKEN_CHARS));
      if (token == null) {
        if (wrong.isHeldBack(context.ip())) {
          throw new TooManyRequestsResponse("too many wrong tokens from here: wait a minute");
        }
        wrong.count(context.ip());
        LOG.warn("a wrong token was given to the console, from {}", context.ip());
        throw new UnauthorizedResponse("that is not a token of this writer");
      }
      if (token.role() == Role.MESSAGES) {
        throw new UnauthorizedResponse(
            "that token is for programs: it does not sign in to a console");
      }
      SignedIn session = sessions.open(name, token);
      try {
        audit.accept(visitor(session, context).actor(), token.role().name());
      } catch (RuntimeException e) {
        LOG.warn("{} signed in from {}, which the audit log does not have", name, context.ip(), e);
      }
      setCookie(context, session.cookie(), Sessions.LIFE_SECONDS);
      return stateOf(session);
    }

    State signOut(Context context, SignedIn session) {
      sessions.end(session);
      setCookie(context, "", 0);
      return stateOf(null);
    }

    static Visitor visitor(SignedIn session, Context context) {
      return new Visitor(session.who(), context.ip(), session.token());
    }

    private void setCookie(Context context, String value, long seconds) {
      context.header(
          "Set-Cookie",
          "%s=%s; Path=/console; Max-Age=%s; HttpOnly; SameSite=Strict%s"
              .formatted(
                  cookieName,
                  value,
                  seconds,
                  isTls || context.scheme().equals("https") ? "; Secure" : ""));
    }
  }
}
