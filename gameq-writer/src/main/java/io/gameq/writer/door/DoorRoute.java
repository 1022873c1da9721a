package io.gameq.writer.door;

import io.javalin.http.HandlerType;
import java.util.Locale;

/** What there is at the door. */
enum DoorRoute {
  TOPIC(HandlerType.GET, "", false),
  DEFINE(HandlerType.PUT, "", true),
  PUBLISH_ONE(HandlerType.PUT, "/messages/<key>", true),
  LOOK_UP(HandlerType.GET, "/messages/<key>", false),
  DELETE(HandlerType.DELETE, "/messages/<key>", true),
  PUBLISH(HandlerType.POST, "/messages", true),
  TAKE(HandlerType.POST, "/take", true),
  ACKNOWLEDGE(HandlerType.POST, "/acknowledge", true),
  EXTEND(HandlerType.POST, "/extend", true),
  FAIL(HandlerType.POST, "/fail", true);

  static final String DESCRIPTION = "/api/openapi.yaml";

  private final HandlerType method;
  private final String path;
  private final boolean changes;

  DoorRoute(HandlerType method, String path, boolean changes) {
    this.method = method;
    this.path = path;
    this.changes = changes;
  }

  HandlerType method() {
    return method;
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
