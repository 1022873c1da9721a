package io.gameq.writer.console;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.terminal.Shown;
import io.gameq.writer.config.AccessToken;
import io.gameq.writer.config.AccessToken.TokenRole;
import io.gameq.writer.console.ConsoleSessions.ConsoleSession;
import io.gameq.writer.http.JsonBytes;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.Context;
import io.javalin.http.ForbiddenResponse;
import io.javalin.http.ServiceUnavailableResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * A request to the console: who asks, and what it says, in its path and query or, when it changes
 * something, in a JSON object. Immutable.
 */
final class ConsoleRequest {
  /** Some hundred ids, or the columns of a row as a person edits them. */
  private static final int MOST_BYTES = 64 * 1_024;

  /** Whoever gives more is told by what takes the text. */
  private static final int MOST_CHARS = 1_000;

  /** Who sends slowly holds a thread meanwhile: others must be left for those who ask after us. */
  private static final Semaphore BEING_READ = new Semaphore(16);

  private static final AccessToken NONE = new AccessToken("", TokenRole.READ, "");
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Context context;
  private final @Nullable ConsoleSession session;
  private final @Nullable JsonNode body;

  private ConsoleRequest(
      Context context, @Nullable ConsoleSession session, @Nullable JsonNode body) {
    this.context = context;
    this.session = session;
    this.body = body;
  }

  /** A request that asks. */
  static ConsoleRequest ofQuery(Context context, @Nullable ConsoleSession session) {
    return new ConsoleRequest(context, session, null);
  }

  /** A request with a body; refuses one that is no JSON object, or too large. */
  static ConsoleRequest ofBody(Context context, @Nullable ConsoleSession session) {
    JsonBytes.require(context);
    if (!BEING_READ.tryAcquire()) {
      throw new ServiceUnavailableResponse("too many requests are being read: try again");
    }
    try {
      JsonNode body = JSON.readTree(JsonBytes.read(context, MOST_BYTES, some -> {}));
      if (!body.isObject()) {
        throw new BadRequestResponse("send a JSON object");
      }
      return new ConsoleRequest(context, session, body);
    } catch (JsonProcessingException e) {
      throw new BadRequestResponse("that is not JSON");
    } catch (IOException e) {
      throw JsonBytes.cut(e);
    } finally {
      BEING_READ.release();
    }
  }

  Context context() {
    return context;
  }

  /** Null where nobody is signed in. */
  @Nullable ConsoleSession session() {
    return session;
  }

  /** With which the visitor signed in; where no token is asked for, one that looks at all. */
  AccessToken token() {
    return session == null ? NONE : session.token();
  }

  /** As the audit log names the visitor. */
  Actor actor() {
    return new Actor(session == null ? "" : session.who(), "console " + context.ip());
  }

  /** Refuses a token that is for some topics, where something else is asked for. */
  void requireAllTopics() {
    List<String> topics = token().topics();
    if (!topics.isEmpty()) {
      throw new ForbiddenResponse(
          "your token is for topics " + String.join(" ", topics) + " alone");
    }
  }

  /** The topic that the request names; refuses a token that is not for it. */
  String topic() {
    String topic = text("topic");
    if (!token().allows(topic)) {
      requireAllTopics();
    }
    return topic;
  }

  /** A text, stripped; refused when it is missing, empty or too long. */
  String text(String name) {
    return text(name, MOST_CHARS);
  }

  String text(String name, int mostChars) {
    return needed(name, optionalText(name, mostChars));
  }

  /** The same; null when it is missing or empty. */
  @Nullable String optionalText(String name) {
    return optionalText(name, MOST_CHARS);
  }

  private @Nullable String optionalText(String name, int mostChars) {
    String text = given(name, mostChars);
    return text == null || text.isBlank() ? null : text.strip();
  }

  /** A text as it is, spaces and all; refused when it is missing or too long. */
  String exactText(String name) {
    return exactText(name, MOST_CHARS);
  }

  String exactText(String name, int mostChars) {
    return needed(name, given(name, mostChars));
  }

  /** The same; null when it is missing or empty. */
  @Nullable String optionalExactText(String name) {
    String text = given(name, MOST_CHARS);
    return text == null || text.isEmpty() ? null : text;
  }

  private static String needed(String name, @Nullable String text) {
    if (text == null) {
      throw new BadRequestResponse("'%s' is missing".formatted(name));
    }
    return text;
  }

  private @Nullable String given(String name, int mostChars) {
    if (body == null) {
      String inPath = context.pathParamMap().get(name);
      return inPath == null ? context.queryParam(name) : inPath;
    }
    JsonNode value = body.path(name);
    if (value.isMissingNode() || value.isNull()) {
      return null;
    }
    if (!value.isTextual() || value.textValue().strip().length() > mostChars) {
      throw new BadRequestResponse(
          Shown.line("'%s' must be a text of %,d characters at most", name, mostChars));
    }
    return value.textValue();
  }

  /** A number of the query. */
  long number(String name, long otherwise) {
    return context.queryParamAsClass(name, Long.class).getOrDefault(otherwise);
  }

  /** Whether a member of the body is there and not null. */
  boolean has(String name) {
    return body != null && body.hasNonNull(name);
  }

  /** The letter that the path or the body names, and no other. */
  long id() {
    return body == null ? context.pathParamAsClass("id", Long.class).get() : ids(1).get(0);
  }

  /** Numbers of letters; refused when there is none, or too many. */
  List<Long> ids(int most) {
    List<Long> ids = new ArrayList<>();
    for (JsonNode id : members("ids")) {
      if (!id.canConvertToLong() || !id.isIntegralNumber()) {
        throw new BadRequestResponse("'ids' must be whole numbers");
      }
      ids.add(id.asLong());
    }
    if (ids.isEmpty() || ids.size() > most) {
      throw new BadRequestResponse(
          Shown.line("'ids' must be 1 to %,d numbers, and are %,d", most, ids.size()));
    }
    return ids;
  }

  /** Texts by name, null for JSON's null. */
  Map<String, @Nullable String> texts(String name) {
    Map<String, @Nullable String> texts = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> member : members(name).properties()) {
      JsonNode value = member.getValue();
      if (!value.isTextual() && !value.isNull()) {
        throw new BadRequestResponse("'%s' must be texts or null".formatted(name));
      }
      texts.put(member.getKey(), value.textValue());
    }
    return texts;
  }

  private JsonNode members(String name) {
    return body == null ? JSON.missingNode() : body.path(name);
  }
}
