package io.gameq.writer.console.access;

import io.javalin.http.Context;
import java.util.Map;

/** What browsers are told to refuse. Stateless. */
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
}
