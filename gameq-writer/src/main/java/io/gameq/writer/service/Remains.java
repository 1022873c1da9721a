package io.gameq.writer.service;

import io.gameq.backlog.Backlog;
import io.gameq.redis.script.Waiting;
import io.gameq.terminal.Shown;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a writer left when it stopped. Immutable.
 *
 * @param took how long it took
 * @param isFinished whether all that it had claimed was finished
 * @param givenBack claims that were not, and went back: others have them at once
 * @param areBack whether Redis took them; else others have them when their leases run out
 * @param backlog what waits in Redis; null when it did not answer in time
 */
public record Remains(
    Duration took, boolean isFinished, int givenBack, boolean areBack, @Nullable Backlog backlog) {
  private static final Logger LOG = LoggerFactory.getLogger(Remains.class);

  void log(String writer) {
    if (!isFinished) {
      LOG.warn(
          "writer {} did not finish in {} ms what it had claimed: {}",
          writer,
          took.toMillis(),
          areBack
              ? Shown.count(givenBack, "owner") + " given back unwritten, for others to claim"
              : "Redis did not answer, others have it when the leases run out");
    }
    if (backlog == null) {
      LOG.warn("what waits in Redis is not known: it did not answer in time");
    } else if (backlog.owners() == 0) {
      LOG.info("nothing waits in Redis");
    } else {
      LOG.info(
          "in Redis wait {}, {} of them claimed by other writers, and about {}; the oldest for {}"
              + " s: other writers go on with them, or the next start",
          Shown.count(backlog.owners(), "owner"),
          backlog.sum(Waiting::claimed),
          Shown.count(backlog.rows(), "row"),
          backlog.oldestAgeMillis() / 1_000);
    }
  }
}
