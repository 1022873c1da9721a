package io.gameq.writer.console.access;

import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.writer.config.AccessToken;
import io.gameq.writer.config.AccessToken.Role;
import io.javalin.http.ForbiddenResponse;

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
