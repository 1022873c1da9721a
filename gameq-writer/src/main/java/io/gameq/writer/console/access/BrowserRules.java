package io.gameq.writer.console.access;

import io.javalin.http.Context;
import io.javalin.http.ForbiddenResponse;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What browsers are told to refuse, and what is refused that a browser sends. Stateless. */
final class BrowserRules {
  /**
   * Only our own files and answers; no script or style within the page, none made from text; no
   * page of others shows ours in a frame.
   */
  private static final String CONTENT_SECURITY_POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
          + " base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
          + " require-trusted-types-for 'script'; trusted-types 'none'";

  private static final Map<String, String> HEADERS =
      Map.ofEntries(
          Map.entry("Content-Security-Policy", CONTENT_SECURITY_POLICY),
          Map.entry("X-Content-Type-Options", "nosniff"),
          Map.entry("X-Frame-Options", "DENY"),
          Map.entry("Referrer-Policy", "no-referrer"),
          Map.entry("Cross-Origin-Opener-Policy", "same-origin"),
          Map.entry("Cross-Origin-Resource-Policy", "same-origin"),
          Map.entry("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()"),
          Map.entry("Cache-Control", "no-store"));

  private BrowserRules() {}

  static void addHeaders(Context context) {
    HEADERS.forEach(context::header);
  }

  /**
   * Refuses a request that a page from elsewhere makes. Browsers say where a request comes from in
   * Origin, when it changes something, and in Sec-Fetch-Site.
   *
   * @param mustSay whether a request without Origin is refused
   */
  static void requireOwnPage(Context context, boolean mustSay) {
    String site = context.header("Sec-Fetch-Site");
    String origin = context.header("Origin");
    boolean isOwn = origin == null ? !mustSay : origin.equals(origin(context));
    if (!isOwn || (site != null && !site.equals("same-origin"))) {
      throw new ForbiddenResponse("this request does not come from the console's own page");
    }
  }

  private static @Nullable String origin(Context context) {
    String host = context.header("Host");
    return host == null ? null : context.scheme() + "://" + host;
  }
}
