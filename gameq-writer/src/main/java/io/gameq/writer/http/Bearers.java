package io.gameq.writer.http;

import io.gameq.writer.config.AccessToken;
import io.javalin.http.Context;
import io.javalin.http.TooManyRequestsResponse;
import io.javalin.http.UnauthorizedResponse;
import java.time.Clock;
import org.jspecify.annotations.Nullable;

/** Lets in programs whose requests carry a token. Thread-safe. */
public final class Bearers {
  private static final String AUTHORIZATION = "Authorization";

  private final AccessTokens tokens;
  private final WrongTokens wrong = new WrongTokens(Clock.systemUTC());

  public Bearers(AccessTokens tokens) {
    this.tokens = tokens;
  }

  /** Whether a request carries a token, if there is one to carry. */
  boolean isLetIn(Context context) {
    return tokens.isEmpty() || find(context) != null;
  }

  private @Nullable AccessToken find(Context context) {
    String authorization = context.header(AUTHORIZATION);
    if (authorization == null) {
      return null;
    }
    AccessToken token = tokens.ofHeader(authorization);
    if (token == null) { // a right one passes: others may come from the same address, as of a proxy
      wrong.count(context.ip());
    }
    return token;
  }

  /** Refuses a request that is not let in. */
  void require(Context context) {
    if (!tokens.isEmpty()) {
      AccessToken unused = token(context, "the token of http.tokenFile is needed");
    }
  }

  /** The token that a request carries; refuses one that has none, saying what is needed. */
  public AccessToken token(Context context, String needed) {
    AccessToken token = find(context);
    if (token == null) {
      if (wrong.isHeldBack(context.ip())) {
        throw new TooManyRequestsResponse("too many wrong tokens from here: wait a minute");
      }
      context.header("WWW-Authenticate", "Bearer");
      throw new UnauthorizedResponse(needed);
    }
    return token;
  }
}
