package io.gameq.writer.console.access;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.RedisUnavailableException;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.terminal.ErrorLine;
import io.gameq.writer.config.HttpSettings;
import io.gameq.writer.http.OwnPage;
import io.javalin.config.RoutesConfig;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.ConflictResponse;
import io.javalin.http.Context;
import io.javalin.http.ForbiddenResponse;
import io.javalin.http.ServiceUnavailableResponse;
import io.javalin.http.UnauthorizedResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Clock;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

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
}
