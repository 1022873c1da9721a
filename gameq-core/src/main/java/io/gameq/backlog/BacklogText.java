package io.gameq.backlog;

import io.gameq.redis.RedisState;
import io.gameq.redis.script.Waiting;
import io.gameq.redis.topic.TopicCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A look at the backlog as text, as it is published in Redis for all nodes and writers. Stateless.
 *
 * <pre>
 * 5 USED_BYTES MAX_BYTES REPLICAS TOPICS_LEFT POLICY VERSION    the first number is the format's
 * NUMBER NUMBER ...                                  a line for each slot, as Waiting has them
 * TOPIC PENDING DUE HELD DEAD RETRYING FIRST OVERDUE PAUSED   a line for each topic: TopicBacklog
 *
 * 1 OLDEST_AGE_MILLIS ROWS USED_BYTES MAX_BYTES      the summary
 * </pre>
 */
final class BacklogText {
  private static final String FORMAT = "5";
  private static final String SUMMARY_FORMAT = "1";
  private static final int HEADER_WORDS = 7;
  private static final int SLOT_NUMBERS = 14;
  private static final int TOPIC_NUMBERS = 8;
  private static final int SUMMARY_NUMBERS = 5;

  private BacklogText() {}

  static String of(Backlog backlog) {
    RedisState redis = backlog.redis();
    return Stream.concat(
            backlog.slots().stream().map(BacklogText::line),
            backlog.topics().stream().map(BacklogText::line))
        .collect(
            Collectors.joining(
                "\n",
                "%s %s %s %s %s %s %s\n"
                    .formatted(
                        FORMAT,
                        redis.usedBytes(),
                        redis.mostBytes(),
                        redis.replicas(),
                        backlog.topicsLeft(),
                        redis.policy(),
                        redis.version()),
                ""));
  }

  private static String line(Waiting of) {
    return words(
        of.nowMillis(),
        of.due(),
        of.overdue(),
        of.ready(),
        of.claimed(),
        of.lapsed(),
        of.oldestMillis(),
        of.oldestPassingMillis(),
        of.counted(),
        of.countedRows(),
        of.stale(),
        of.closing(),
        of.healing(),
        of.foreign());
  }

  private static String line(TopicBacklog of) {
    TopicCounts counts = of.counts();
    return of.topic()
        + " "
        + words(
            counts.pending(),
            counts.dueLanes(),
            counts.held(),
            counts.dead(),
            counts.retrying(),
            counts.firstDueMillis(),
            of.overdueMillis(),
            of.isPaused() ? 1 : 0);
  }

  private static String words(long... numbers) {
    return LongStream.of(numbers).mapToObj(Long::toString).collect(Collectors.joining(" "));
  }

  /** The look; null when it is of another number of slots, or of another release's format. */
  static @Nullable Backlog backlog(String text, int slots) {
    String[] lines = text.split("\n", -1);
    String[] header = lines[0].split(" ", HEADER_WORDS);
    if (lines.length < slots + 1 || header.length != HEADER_WORDS || !header[0].equals(FORMAT)) {
      return null;
    }
    try {
      List<Waiting> waiting = new ArrayList<>();
      for (int slot = 0; slot < slots; slot++) {
        long[] of = numbers(lines[slot + 1]);
        if (of.length != SLOT_NUMBERS) {
          return null;
        }
        waiting.add(
            new Waiting(
                slot, of[0], of[1], of[2], of[3], of[4], of[5], of[6], of[7], of[8], of[9], of[10],
                of[11], of[12], of[13]));
      }
      List<TopicBacklog> topics = new ArrayList<>();
      for (int line = slots + 1; line < lines.length; line++) {
        topics.add(topic(lines[line]));
      }
      return new Backlog(
          waiting,
          new RedisState(
              header[6],
              Long.parseLong(header[1]),
              Long.parseLong(header[2]),
              header[5],
              Long.parseLong(header[3])),
          topics,
          Integer.parseInt(header[4]));
    } catch (NumberFormatException e) {
      return null;
    }
  }

  private static TopicBacklog topic(String line) {
    int space = line.indexOf(' ');
    long[] of = numbers(line.substring(space + 1));
    if (space < 0 || of.length != TOPIC_NUMBERS) {
      throw new NumberFormatException("another release's");
    }
    return new TopicBacklog(
        line.substring(0, space),
        new TopicCounts(of[0], of[1], of[2], of[3], of[4], of[5]),
        of[6],
        of[7] == 1);
  }

  static String of(BacklogSummary of) {
    return SUMMARY_FORMAT
        + " "
        + words(of.oldestAgeMillis(), of.rows(), of.usedBytes(), of.mostBytes());
  }

  /** The summary; null when it is of another release's format. */
  static @Nullable BacklogSummary summary(String text) {
    if (!text.startsWith(SUMMARY_FORMAT + " ")) {
      return null;
    }
    try {
      long[] of = numbers(text);
      return of.length == SUMMARY_NUMBERS ? new BacklogSummary(of[1], of[2], of[3], of[4]) : null;
    } catch (NumberFormatException e) {
      return null;
    }
  }

  private static long[] numbers(String line) {
    String[] words = line.split(" ", -1);
    long[] numbers = new long[words.length];
    for (int i = 0; i < words.length; i++) {
      numbers[i] = Long.parseLong(words[i]);
    }
    return numbers;
  }
}
