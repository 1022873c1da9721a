package io.gameq.writer.console.access;

import io.gameq.writer.config.AccessToken;

/**
 * Somebody who is signed in; thread-safe.
 *
 * @param id of the session, at all writers
 * @param cookie that the browser keeps
 * @param csrf that every changing request carries: a page from elsewhere cannot read it
 * @param who the name given at sign-in, and that of the token
 * @param untilMillis when it ends, ms since 1970
 */
record SignedIn(
    String id,
    String cookie,
    String csrf,
    String who,
    AccessToken token,
    long untilMillis,
    FormIds forms) {
  @Override
  public String toString() { // not what lets in
    return "SignedIn[who=%s, role=%s]".formatted(who, token.role());
  }
}
