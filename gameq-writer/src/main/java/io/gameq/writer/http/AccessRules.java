package io.gameq.writer.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.writer.config.HttpSettings;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.MessageDigest;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Who may ask a writer over HTTP. Immutable. */
final class AccessRules {
  private static final Set<String> LOOPBACK_NAMES = Set.of("localhost", "127.0.0.1", "[::1]");
  private static final String SCHEME = "Bearer ";

  private final @Nullable String token;
  private final boolean isLoopback;

  AccessRules(HttpSettings settings) {
    this.token = settings.token();
    this.isLoopback = isLoopback(settings.address());
  }

  /** Whether only this host can connect to an address. */
  static boolean isLoopback(String address) {
    try {
      return InetAddress.getByName(address).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  /** Whether the Authorization header has the token, if there is one; takes as long either way. */
  boolean hasToken(@Nullable String authorization) {
    if (token == null) {
      return true;
    }
    String given = authorization == null ? "" : authorization;
    return MessageDigest.isEqual((SCHEME + token).getBytes(UTF_8), given.getBytes(UTF_8));
  }

  /**
   * Whether the Host header is one that this writer has. A page from elsewhere whose name leads to
   * the loopback address (DNS rebinding) has another one.
   */
  boolean isOurHost(@Nullable String host) {
    if (!isLoopback) { // then there is a token, which a browser does not send by itself
      return true;
    }
    String name = host == null ? "" : host.replaceFirst(":\\d+$", "");
    return LOOPBACK_NAMES.contains(name.toLowerCase(Locale.ROOT));
  }
}
