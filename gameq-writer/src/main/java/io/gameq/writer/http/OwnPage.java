package io.gameq.writer.http;

import io.javalin.http.Context;
import io.javalin.http.ForbiddenResponse;

/**
 * Tells requests of a writer's own pages from those that a page from elsewhere makes. Stateless.
 */
public final class OwnPage {
  private OwnPage() {}

  /**
   * Refuses a request that a page from elsewhere makes. Browsers say where a request comes from in
   * Origin, when it changes something, and in Sec-Fetch-Site.
   *
   * @param mustSay whether a request without Origin is refused
   */
  public static void require(Context context, boolean mustSay) {
    String site = context.header("Sec-Fetch-Site");
    String origin = context.header("Origin");
    boolean isOwn = origin == null ? !mustSay : origin.equals(origin(context));
    if (!isOwn || (site != null && !site.equals("same-origin"))) {
      throw new ForbiddenResponse("this request does not come from the console's own page");
    }
  }

  /** As a browser names it; behind a proxy, the one that the proxy was asked by. */
  private static String origin(Context context) {
    String url = context.url();
    int path = url.indexOf('/', url.indexOf("//") + 2);
    return path < 0 ? url : url.substring(0, path);
  }
}
