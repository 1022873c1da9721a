package io.gameq.writer.service;

import io.gameq.GameQueueException;
import io.gameq.mysql.ErrorKind;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits for servers that are down, or not ready yet, when the service starts. What only a person
 * can end, such as a wrong password, ends the start. Stateless.
 */
public final class Startup {
  private static final Logger LOG = LoggerFactory.getLogger(Startup.class);

  private static final long ASK_EVERY_MILLIS = 2_000;

  private Startup() {}

  /**
   * Opens something as soon as the server that it needs answers; null when the process is to stop
   * first.
   *
   * @param waitsFor told what is away or not ready, each time
   * @throws GameQueueException what {@code open} throws for anything else, such as a wrong password
   */
  public static <T> @Nullable T whenItAnswers(
      Supplier<T> open, CountDownLatch stop, Consumer<String> waitsFor)
      throws InterruptedException {
    @Nullable String said = null;
    do {
      try {
        T opened = open.get();
        if (said != null) {
          LOG.info("it answers now; this was: {}", said);
        }
        return opened;
      } catch (GameQueueException e) {
        if (!mayPass(e)) {
          throw e;
        }
        waitsFor.accept(e.getMessage());
        // Once for each reason, however long it lasts.
        if (!Objects.equals(e.getMessage(), said)) {
          said = e.getMessage();
          LOG.warn("{}; waiting for it, asking again every {} s", said, ASK_EVERY_MILLIS / 1_000);
        }
      }
    } while (!stop.await(ASK_EVERY_MILLIS, TimeUnit.MILLISECONDS));
    return null;
  }

  private static boolean mayPass(GameQueueException e) {
    return e.isOutage() || ErrorKind.mayPass(e);
  }
}
