package io.gameq.writer.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.writer.config.AccessToken;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The tokens that let their bearers in. Immutable. */
public final class AccessTokens {
  private static final String SCHEME = "Bearer ";

  private final List<AccessToken> tokens;

  public AccessTokens(List<AccessToken> tokens) {
    this.tokens = List.copyOf(tokens);
  }

  /** Whether there is none: then nobody is asked for one. */
  public boolean isEmpty() {
    return tokens.isEmpty();
  }

  /** The token that this is; null for a wrong one. Takes as long either way. */
  public @Nullable AccessToken find(String secret) {
    AccessToken found = null;
    for (AccessToken token : tokens) {
      if (MessageDigest.isEqual(digest(token.secret()), digest(secret))) {
        found = token;
      }
    }
    return found;
  }

  /** The same, of an Authorization header. */
  @Nullable AccessToken ofHeader(@Nullable String authorization) {
    return authorization != null && authorization.startsWith(SCHEME)
        ? find(authorization.substring(SCHEME.length()))
        : null;
  }

  /** Of equal length for all secrets, so that the comparison does not tell how long they are. */
  private static byte[] digest(String secret) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(secret.getBytes(UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
