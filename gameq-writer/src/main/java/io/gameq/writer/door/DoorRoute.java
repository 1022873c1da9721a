package io.gameq.writer.door;

import io.javalin.http.HandlerType;
import java.util.Locale;

/** What there is at the door. */
enum DoorRoute {
  TOPIC("GET", "", false),
  DEFINE("PUT", "", true),
  PUBLISH_ONE("PUT", "/messages/<key>", true),
  LOOK_UP("GET", "/messages/<key>", false),
  DELETE("DELETE", "/messages/<key>", true),
  PUBLISH("POST", "/messages", true),
  TAKE("POST", "/take", true),
  ACKNOWLEDGE("POST", "/acknowledge", true),
  EXTEND("POST", "/extend", true),
  FAIL("POST", "/fail", true);

  static final String DESCRIPTION = "/api/openapi.yaml";

  private final String method;
  private final String path;
  private final boolean changes;

  DoorRoute(String method, String path, boolean changes) {
    this.method = method;
    this.path = path;
    this.changes = changes;
  }

  HandlerType method() {
    return HandlerType.findOrCreate(method);
  }

  /** As Javalin has it: {@code <key>} may hold slashes. */
  String path() {
    return "/api/topics/{topic}" + path;
  }

  /** Whether it needs a token that may handle messages; else one that may look is enough. */
  boolean changes() {
    return changes;
  }

  /** As it stands in meters. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
