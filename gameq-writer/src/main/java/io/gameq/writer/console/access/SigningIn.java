package io.gameq.writer.console.access;

import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.writer.config.AccessToken;
import io.gameq.writer.config.AccessToken.Role;
import io.gameq.writer.config.ConsoleMode;
import io.gameq.writer.config.HttpSettings;
import io.gameq.writer.http.AccessTokens;
import io.gameq.writer.http.WrongTokens;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.Context;
import io.javalin.http.TooManyRequestsResponse;
import io.javalin.http.UnauthorizedResponse;
import java.time.Clock;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Exchanges a token for a session. Thread-safe. */
final class SigningIn {
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
   * @param audit told who did; a session is opened though it fails, since a console is needed most
   *     when servers are away
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
