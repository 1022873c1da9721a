package io.gameq.writer.http;

import io.gameq.terminal.Shown;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.ContentTooLargeResponse;
import io.javalin.http.Context;
import io.javalin.http.HttpResponseException;
import io.javalin.http.HttpStatus;
import io.javalin.http.UnsupportedMediaTypeResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The JSON that a request carries, as bytes up to a limit. Stateless. */
public final class JsonBytes {
  private static final Logger LOG = LoggerFactory.getLogger(JsonBytes.class);

  private static final int BYTES_AT_ONCE = 16 << 10;

  /** Whoever sends more slowly for so long holds a thread for nothing. */
  private static final int SLOW_SECONDS = 10;

  private static final int LEAST_BYTES_A_SECOND = 256;

  private JsonBytes() {}

  /** Refuses a request that does not say that it carries JSON. */
  public static void require(Context context) {
    String type = context.contentType();
    if (type == null || !type.matches("(?i)application/json\\s*(;.*)?")) {
      throw new UnsupportedMediaTypeResponse("send application/json");
    }
  }

  /** Whoever sent it went away: nothing for a log. */
  public static BadRequestResponse cut(IOException because) {
    LOG.debug("a request was cut off", because);
    return new BadRequestResponse("the request was cut off");
  }

  /**
   * Reads no more than is allowed, whatever the length that the request claims.
   *
   * @param took told after each read how many bytes it took; may refuse them
   */
  public static byte[] read(Context context, int most, IntConsumer took) throws IOException {
    long began = System.nanoTime();
    InputStream from = context.bodyInputStream();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] some = new byte[BYTES_AT_ONCE];
    for (int read = 0; read >= 0; read = from.read(some)) {
      took.accept(read);
      bytes.write(some, 0, read);
      if (bytes.size() > most) {
        throw new ContentTooLargeResponse(Shown.line("a request has %,d bytes at most", most));
      }
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
      if (seconds > SLOW_SECONDS && bytes.size() < seconds * LEAST_BYTES_A_SECOND) {
        throw new HttpResponseException(
            HttpStatus.REQUEST_TIMEOUT.getCode(), "the request comes too slowly");
      }
    }
    return bytes.toByteArray();
  }
}
