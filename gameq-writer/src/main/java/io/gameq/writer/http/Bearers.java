package io.gameq.writer.http;

import io.javalin.http.Context;
import io.javalin.http.TooManyRequestsResponse;
import io.javalin.http.UnauthorizedResponse;
import java.time.Clock;

/** Lets in programs whose requests carry a token. Thread-safe. */
final class Bearers {
  private static final String AUTHORIZATION = "Authorization";

  private final AccessTokens tokens;
  private final WrongTokens wrong = new WrongTokens(Clock.systemUTC());

  Bearers(AccessTokens tokens) {
    this.tokens = tokens;
  }

  /** Whether a request carries a token, if there is one to carry. */
  boolean isLetIn(Context context) {
    if (tokens.isEmpty()) {
      return true;
    }
    String authorization = context.header(AUTHORIZATION);
    if (authorization == null || wrong.isHeldBack(context.ip())) {
      return false;
    }
    if (tokens.ofHeader(authorization) != null) {
      return true;
    }
    wrong.count(context.ip());
    return false;
  }

  /** Refuses a request that is not let in. */
  void require(Context context) {
    if (!isLetIn(context)) {
      if (wrong.isHeldBack(context.ip())) {
        throw new TooManyRequestsResponse("too many wrong tokens from here: wait a minute");
      }
      context.header("WWW-Authenticate", "Bearer");
      throw new UnauthorizedResponse("the token of http.tokenFile is needed");
    }
  }
}
