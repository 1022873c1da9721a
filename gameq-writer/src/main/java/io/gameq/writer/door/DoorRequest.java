package io.gameq.writer.door;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import io.gameq.writer.http.JsonBytes;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.Context;
import io.javalin.http.TooManyRequestsResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;

/** Reads what requests say, up to a limit. Thread-safe. */
final class DoorRequest {
  /** A hundred messages of 40 KiB, or one of the largest. */
  static final int MOST_BYTES = 4 << 20;

  /** Each holds a thread, and some times its size of memory, while it is read. */
  private static final int MOST_AT_ONCE = 16;

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Semaphore beingRead = new Semaphore(MOST_AT_ONCE);

  /**
   * The body of a request; of an empty one all is left out.
   *
   * @throws io.javalin.http.HttpResponseException naming what is wrong, without any value
   */
  <T> T read(Context context, Class<T> type) {
    if (!beingRead.tryAcquire()) {
      throw new TooManyRequestsResponse("too many requests are being read: try again");
    }
    try {
      byte[] bytes = JsonBytes.read(context, MOST_BYTES);
      if (bytes.length == 0) {
        return JSON.readValue("{}", type);
      }
      JsonBytes.require(context);
      T read = JSON.readValue(bytes, type);
      if (read == null) {
        throw new BadRequestResponse("send a JSON object");
      }
      return read;
    } catch (UnrecognizedPropertyException e) {
      throw new BadRequestResponse(
          "'%s' is not known here: there is %s"
              .formatted(
                  path(e),
                  e.getKnownPropertyIds().stream()
                      .map(String::valueOf)
                      .sorted()
                      .collect(Collectors.joining(", "))));
    } catch (JsonMappingException e) {
      throw new BadRequestResponse("'%s' is not what it must be".formatted(path(e)));
    } catch (JacksonException e) {
      throw new BadRequestResponse("that is not JSON");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      beingRead.release();
    }
  }

  /** Names and positions that we know, never a value. */
  private static String path(JsonMappingException e) {
    return e.getPath().stream()
        .map(of -> of.getFieldName() == null ? "[" + of.getIndex() + "]" : of.getFieldName())
        .map(name -> name.substring(0, Math.min(40, name.length())))
        .collect(Collectors.joining("."))
        .replace(".[", "[");
  }
}
