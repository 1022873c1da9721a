package io.gameq.writer.console;

import io.javalin.config.RoutesConfig;
import io.javalin.http.HttpStatus;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;

/** The files that a browser loads: they lie beside this class, and no other is found. Stateless. */
final class ConsoleFiles {
  private static final String[] PAGES = {
    "index.html",
    "style.css",
    "icon.svg",
    "theme.js",
    "app.js",
    "api.js",
    "dom.js",
    "chart.js",
    "dialog.js",
    "advice.js",
    "states.js",
    "text.js",
    "pages/overview.js",
    "pages/slots.js",
    "pages/fleet.js",
    "pages/owners.js",
    "pages/trace.js",
    "pages/held.js",
    "pages/dead.js",
    "pages/letter.js",
    "pages/stale.js",
    "pages/topics.js",
    "pages/message.js",
    "pages/settings.js",
    "pages/audit.js"
  };

  private ConsoleFiles() {}

  static void addTo(RoutesConfig routes) {
    routes.get("/", context -> context.redirect("/console/", HttpStatus.SEE_OTHER));
    routes.get(
        "/console",
        context -> {
          if (context.path().endsWith("/")) {
            context.contentType(type("index.html")).result(read("index.html"));
          } else { // the page names its files beside itself
            context.redirect("/console/", HttpStatus.SEE_OTHER);
          }
        });
    for (String file : PAGES) {
      byte[] content = read(file);
      routes.get("/console/" + file, context -> context.contentType(type(file)).result(content));
    }
  }

  private static byte[] read(String file) {
    try (InputStream content =
        Objects.requireNonNull(ConsoleFiles.class.getResourceAsStream(file), file)) {
      return content.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String type(String file) {
    return switch (file.substring(file.lastIndexOf('.') + 1)) {
      case "html" -> "text/html; charset=utf-8";
      case "css" -> "text/css; charset=utf-8";
      case "svg" -> "image/svg+xml";
      default -> "text/javascript; charset=utf-8";
    };
  }
}
