package io.gameq.writer.door;

import io.gameq.writer.config.AccessToken;
import io.gameq.writer.config.AccessToken.Role;
import io.gameq.writer.config.HttpSettings;
import io.gameq.writer.http.AccessTokens;
import io.gameq.writer.http.Bearers;
import io.gameq.writer.http.OwnPage;
import io.javalin.http.Context;
import io.javalin.http.ForbiddenResponse;

/** Who may do what at the door. Thread-safe. */
final class DoorAccess {
  private final Bearers bearers;

  DoorAccess(HttpSettings settings) {
    this.bearers = new Bearers(new AccessTokens(settings.tokens()));
  }

  /** The token of a request that may do this; else throws what answers it. */
  AccessToken require(Context context, DoorRoute route, String topic) {
    OwnPage.require(context, false);
    AccessToken token =
        bearers.token(context, "send a token of http.tokens: Authorization: Bearer TOKEN");
    if (route.changes() && token.role() == Role.READ) {
      throw new ForbiddenResponse("this token is for looking only: role messages is needed");
    }
    if (route == DoorRoute.DEFINE && !token.mayDefine()) {
      throw new ForbiddenResponse(
          "this token does not define topics: it needs define: true in http.tokens");
    }
    if (!token.allows(topic)) {
      throw new ForbiddenResponse("this token is not for topic '%s'".formatted(topic));
    }
    return token;
  }
}
