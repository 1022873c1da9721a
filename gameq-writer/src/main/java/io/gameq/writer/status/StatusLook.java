package io.gameq.writer.status;

import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.backlog.SharedBacklog.TopicBacklog;
import io.gameq.redis.script.Waiting;
import io.gameq.terminal.Shown;
import io.gameq.writer.pause.Pausing.Pauses;
import io.gameq.writer.topics.TopicText;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What the servers said when they were asked. Immutable.
 *
 * @param backlog null when Redis could not be asked
 * @param redisError why
 * @param processes null when Redis could not be asked
 * @param deadLetters -1 when MySQL could not be asked
 * @param mysqlError why
 * @param pauses what operators paused; nothing when MySQL could not be asked
 */
public record StatusLook(
    String namespace,
    Instant at,
    @Nullable Backlog backlog,
    String redisError,
    @Nullable Processes processes,
    long deadLetters,
    String mysqlError,
    Pauses pauses) {
  /** Rows that wait longer are not being written. */
  private static final long LONG_MILLIS = 60_000;

  private static final double FULL = 0.9;

  /** What is to be done, each in one line with its remedy; empty when all is well. */
  public List<String> toDo() {
    List<String> all = new ArrayList<>();
    if (backlog == null) {
      all.add("cannot ask Redis: " + redisError);
    } else {
      ofRedis(backlog, all);
    }
    if (processes != null) {
      all.addAll(processes.toDo());
    } else if (backlog != null) {
      all.add("cannot ask Redis who runs: " + redisError);
    }
    if (deadLetters < 0) {
      all.add("cannot ask MySQL: " + mysqlError);
    } else if (deadLetters > 0) {
      all.add(
          "MySQL refused %s: see 'gameq-writer dead list'"
              .formatted(Shown.count(deadLetters, "row")));
    }
    return all;
  }

  private void ofRedis(Backlog backlog, List<String> all) {
    if (backlog.redis().mayEvict()) {
      all.add(
          "Redis has maxmemory-policy %s and may drop rows: set noeviction at once"
              .formatted(backlog.redis().policy()));
    }
    if (backlog.redis().fullness() > FULL) {
      all.add(
          String.format(
              Locale.ROOT,
              "Redis has %.0f %% of its memory in use: at 100 %% it refuses commits",
              backlog.redis().fullness() * 100));
    }
    long oldestMillis = backlog.oldestAgeMillis(slot -> pauses.ofSlot(slot) == null);
    if (oldestMillis > LONG_MILLIS) { // where nothing is paused
      all.add(
          "the oldest row waits for %s: does a writer run, and does it reach MySQL?"
              .formatted(Shown.duration(oldestMillis)));
    }
    long stale = backlog.sum(Waiting::stale);
    if (stale > 0) {
      all.add(
          "%s committed after ownership was lost: see 'gameq-writer stale list'"
              .formatted(Shown.count(stale, "session")));
    }
    long foreign = backlog.sum(Waiting::foreign);
    if (foreign > 0) {
      all.add(
          "%s of gameq with somebody else's value: their owners are not written"
              .formatted(Shown.count(foreign, "key")));
    }
    for (TopicBacklog of : backlog.topics()) {
      TopicText.toDo(of.topic(), of.counts(), of.isPaused() ? 0 : of.overdueMillis(), all);
    }
    if (backlog.topicsLeft() > 0) {
      all.add(TopicText.unwatched(backlog.topicsLeft()));
    }
  }
}
