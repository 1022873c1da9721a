package io.gameq.writer.http;

import io.gameq.writer.config.HttpSettings;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** By which address and name a writer may be asked over HTTP. Immutable. */
final class AccessRules {
  private static final Set<String> LOOPBACK_NAMES = Set.of("localhost", "127.0.0.1", "[::1]");

  private final boolean knowsItsHosts;

  AccessRules(HttpSettings settings) {
    this.knowsItsHosts = isLoopback(settings.address()) && !settings.isBehindProxy();
  }

  /** Whether only this host can connect to an address. */
  static boolean isLoopback(String address) {
    try {
      return InetAddress.getByName(address).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  /**
   * Whether the Host header is one that this writer has. A page from elsewhere whose name leads to
   * the loopback address (DNS rebinding) has another one.
   */
  boolean isOurHost(@Nullable String host) {
    if (!knowsItsHosts) { // then there is a token, and a browser has the console's cookie by its
      // name
      return true;
    }
    String name = host == null ? "" : host.replaceFirst(":\\d+$", "");
    return LOOPBACK_NAMES.contains(name.toLowerCase(Locale.ROOT));
  }
}
