package io.gameq.writer.http;

import io.javalin.http.ContentTooLargeResponse;
import io.javalin.http.Context;
import io.javalin.http.UnsupportedMediaTypeResponse;
import java.io.IOException;
import java.util.Locale;

/** The JSON that a request carries, as bytes up to a limit. Stateless. */
public final class JsonBytes {
  private JsonBytes() {}

  /** Refuses a request that does not say that it carries JSON. */
  public static void require(Context context) {
    String type = context.contentType();
    if (type == null || !type.matches("(?i)application/json\\s*(;.*)?")) {
      throw new UnsupportedMediaTypeResponse("send application/json");
    }
  }

  /** Reads no more than is allowed, whatever the length that the request claims. */
  public static byte[] read(Context context, int most) throws IOException {
    byte[] bytes = context.bodyInputStream().readNBytes(most + 1);
    if (bytes.length > most) {
      throw new ContentTooLargeResponse(
          String.format(Locale.ROOT, "a request has %,d bytes at most", most));
    }
    return bytes;
  }
}
