package io.gameq.writer.door;

import io.gameq.writer.config.AccessToken;
import io.gameq.writer.config.AccessToken.Role;
import io.gameq.writer.config.HttpSettings;
import io.gameq.writer.http.AccessTokens;
import io.gameq.writer.http.OwnPage;
import io.gameq.writer.http.WrongTokens;
import io.javalin.http.Context;
import io.javalin.http.ForbiddenResponse;
import io.javalin.http.TooManyRequestsResponse;
import io.javalin.http.UnauthorizedResponse;
import java.time.Clock;

/** Who may do what at the door. Thread-safe. */
final class DoorAccess {
  private final AccessTokens tokens;
  private final WrongTokens wrong = new WrongTokens(Clock.systemUTC());

  DoorAccess(HttpSettings settings) {
    this.tokens = new AccessTokens(settings.tokens());
  }

  /** The token of a request that may do this; else throws what answers it. */
  AccessToken require(Context context, DoorRoute route, String topic) {
    OwnPage.require(context, false);
    if (wrong.isHeldBack(context.ip())) {
      throw new TooManyRequestsResponse("too many wrong tokens from here: wait a minute");
    }
    String authorization = context.header("Authorization");
    AccessToken token = tokens.ofHeader(authorization);
    if (token == null) {
      if (authorization != null) {
        wrong.count(context.ip());
      }
      context.header("WWW-Authenticate", "Bearer");
      throw new UnauthorizedResponse("send a token of http.tokens: Authorization: Bearer TOKEN");
    }
    if (route.changes() && token.role() == Role.READ) {
      throw new ForbiddenResponse("this token is for looking only: role messages is needed");
    }
    if (!token.allows(topic)) {
      throw new ForbiddenResponse("this token is not for topic '%s'".formatted(topic));
    }
    return token;
  }
}
