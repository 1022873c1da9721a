package io.gameq.writer.console;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.writer.http.JsonBytes;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.Context;
import io.javalin.http.ServiceUnavailableResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** What a request says: a JSON object with members that are known and bounded. Immutable. */
public final class RequestBody {
  /** Some hundred ids, or the columns of a row as a person edits them. */
  static final int MOST_BYTES = 64 * 1_024;

  /** Who sends slowly holds a thread meanwhile: others must be left for those who ask after us. */
  private static final Semaphore BEING_READ = new Semaphore(16);

  private static final ObjectMapper JSON = new ObjectMapper();

  private final JsonNode object;

  private RequestBody(JsonNode object) {
    this.object = object;
  }

  /** What a request says; refuses what is no JSON object, or too large. */
  static RequestBody of(Context context) {
    JsonBytes.require(context);
    if (!BEING_READ.tryAcquire()) {
      throw new ServiceUnavailableResponse("too many requests are being read: try again");
    }
    try {
      JsonNode object = JSON.readTree(JsonBytes.read(context, MOST_BYTES, some -> {}));
      if (!object.isObject()) {
        throw new BadRequestResponse("send a JSON object");
      }
      return new RequestBody(object);
    } catch (JsonProcessingException e) {
      throw new BadRequestResponse("that is not JSON");
    } catch (IOException e) {
      throw JsonBytes.cut(e);
    } finally {
      BEING_READ.release();
    }
  }

  /** A text, stripped; refused when it is missing, empty or too long. */
  public String text(String name, int mostChars) {
    String text = optionalText(name, mostChars);
    if (text == null) {
      throw new BadRequestResponse("'%s' is missing".formatted(name));
    }
    return text;
  }

  /** The same; null when it is missing or empty. */
  public @Nullable String optionalText(String name, int mostChars) {
    JsonNode value = object.path(name);
    if (value.isMissingNode() || value.isNull() || value.asText().isBlank()) {
      return null;
    }
    String text = value.asText().strip();
    if (!value.isTextual() || text.length() > mostChars) {
      throw new BadRequestResponse(
          String.format(
              Locale.ROOT, "'%s' must be a text of %,d characters at most", name, mostChars));
    }
    return text;
  }

  /** Whether a member is there and not null. */
  public boolean has(String name) {
    return object.hasNonNull(name);
  }

  /** A text as it is, spaces and all; refused when it is missing or too long. */
  public String exactText(String name, int mostChars) {
    JsonNode value = object.path(name);
    if (!value.isTextual() || value.textValue().length() > mostChars) {
      throw new BadRequestResponse(
          String.format(
              Locale.ROOT, "'%s' must be a text of %,d characters at most", name, mostChars));
    }
    return value.textValue();
  }

  /** Numbers of letters; refused when there is none, or too many. */
  public List<Long> ids(String name, int most) {
    List<Long> ids = new ArrayList<>();
    for (JsonNode id : object.path(name)) {
      if (!id.canConvertToLong() || !id.isIntegralNumber()) {
        throw new BadRequestResponse("'%s' must be whole numbers".formatted(name));
      }
      ids.add(id.asLong());
    }
    if (ids.isEmpty() || ids.size() > most) {
      throw new BadRequestResponse(
          String.format(
              Locale.ROOT, "'%s' must be 1 to %,d numbers, and are %,d", name, most, ids.size()));
    }
    return ids;
  }

  /** Texts by name, null for JSON's null. */
  public Map<String, @Nullable String> texts(String name) {
    Map<String, @Nullable String> texts = new LinkedHashMap<>();
    object
        .path(name)
        .properties()
        .forEach(
            member -> {
              JsonNode value = member.getValue();
              if (!value.isTextual() && !value.isNull()) {
                throw new BadRequestResponse("'%s' must be texts or null".formatted(name));
              }
              texts.put(member.getKey(), value.isNull() ? null : value.asText());
            });
    return texts;
  }
}
