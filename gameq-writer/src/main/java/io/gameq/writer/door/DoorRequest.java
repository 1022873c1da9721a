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
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Reads what requests say, up to a limit. Thread-safe. */
final class DoorRequest {
  /** A hundred messages of 40 KiB, or one of the largest. */
  static final int MOST_BYTES = 4 << 20;

  /** Of all requests that are being read: each takes some times its size of memory meanwhile. */
  private static final int MOST_BYTES_AT_ONCE = 8 << 20;

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Semaphore room = new Semaphore(MOST_BYTES_AT_ONCE);

  /**
   * What comes of the body of a request; of an empty one all is left out.
   *
   * @param then is called while the request counts among those that are being read
   * @throws io.javalin.http.HttpResponseException naming what is wrong, without any value
   */
  <T, R> R read(Context context, Class<T> type, Function<T, R> then) {
    AtomicInteger taken = new AtomicInteger();
    try {
      return then.apply(
          body(JsonBytes.read(context, MOST_BYTES, some -> take(some, taken)), context, type));
    } catch (IOException e) {
      throw JsonBytes.cut(e);
    } finally {
      room.release(taken.get());
    }
  }

  private void take(int bytes, AtomicInteger taken) {
    if (!room.tryAcquire(bytes)) {
      throw new TooManyRequestsResponse("too many requests are being read: try again");
    }
    taken.addAndGet(bytes);
  }

  private static <T> T body(byte[] bytes, Context context, Class<T> type) throws IOException {
    try {
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
