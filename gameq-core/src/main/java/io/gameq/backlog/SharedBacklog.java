package io.gameq.backlog;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisServerCheck;
import io.gameq.redis.RedisServerCheck.RedisState;
import io.gameq.redis.Slots;
import io.gameq.redis.script.SlotBacklog;
import io.gameq.redis.topic.TopicMessages.TopicCounts;
import io.gameq.redis.topic.TopicMessages.TopicSurvey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One look at the backlog every five seconds for all nodes and writers of a namespace; a node looks
 * when no writer did for some seconds more. Stateless.
 */
public final class SharedBacklog {
  private static final String KEY = "backlog";
  private static final String SLOTS = "slots";
  private static final String SUMMARY = "summary";

  /** From which age on a writer looks. */
  static final long OLD_MILLIS = 5_000;

  /** The same of a node: no writer is alive then, or none reaches Redis. */
  static final long OLD_WITHOUT_WRITER_MILLIS = 10_000;

  private SharedBacklog() {}

  /**
   * All of it, as writers show it.
   *
   * @param look looks when it is this one's turn
   */
  public static SharedSnapshot<Backlog> whole(
      String namespace, int slots, Function<RedisConnection, Backlog> look) {
    return new SharedSnapshot<>(
        namespace,
        KEY,
        SLOTS,
        of -> OLD_MILLIS,
        text -> BacklogText.backlog(text, slots),
        redis -> {
          Backlog seen = look.apply(redis);
          return new SharedSnapshot.OwnSnapshot<>(seen, texts(seen));
        });
  }

  /** What nodes need: a short text. */
  public static SharedSnapshot<BacklogSummary> summary(String namespace, Slots slots) {
    return new SharedSnapshot<>(
        namespace,
        KEY,
        SUMMARY,
        of -> OLD_WITHOUT_WRITER_MILLIS,
        BacklogText::summary,
        redis -> {
          Backlog seen = Backlog.of(redis, slots);
          return new SharedSnapshot.OwnSnapshot<>(BacklogSummary.of(seen), texts(seen));
        });
  }

  private static Map<String, String> texts(Backlog seen) {
    return Map.of(SLOTS, BacklogText.of(seen), SUMMARY, BacklogText.of(BacklogSummary.of(seen)));
  }

  /**
   * One look at what waits in Redis. The slots are looked at one after another: what moves
   * meanwhile may be missed or seen twice. Immutable.
   *
   * @param slots in order
   * @param redis the server on which they are
   * @param topics by name; none when Redis holds something else in place of their list
   * @param topicsLeft how many more there are, which were not looked at
   */
  public record Backlog(
      List<SlotBacklog> slots, RedisState redis, List<TopicBacklog> topics, int topicsLeft) {
    public Backlog {
      slots = List.copyOf(slots);
      topics = List.copyOf(topics);
    }

    /** Looks while nothing is paused; as {@link #of(RedisConnection, Slots, Set)}. */
    public static Backlog of(RedisConnection redis, Slots slots) {
      return of(redis, slots, Set.of());
    }

    /**
     * Looks, over a connection that no other thread uses meanwhile.
     *
     * @param paused tables whose rows are to wait: they do not count as old
     * @throws io.gameq.RedisUnavailableException when Redis does not answer
     */
    public static Backlog of(RedisConnection redis, Slots slots, Set<String> paused) {
      return of(redis, slots, paused, Set.of());
    }

    /**
     * The same of a writer.
     *
     * @param refused tables that MySQL takes no rows of
     */
    public static Backlog of(
        RedisConnection redis, Slots slots, Set<String> paused, Set<String> refused) {
      List<SlotBacklog> waiting = SlotBacklog.inSlots(redis, slots, paused, refused);
      RedisState state = RedisServerCheck.state(redis);
      try {
        TopicSurvey survey = TopicSurvey.of(redis, slots);
        List<TopicBacklog> topics =
            survey.topics().stream()
                .filter(of -> of.error().isEmpty())
                .map(of -> TopicBacklog.of(of, survey.nowMillis()))
                .toList();
        return new Backlog(waiting, state, topics, survey.left());
      } catch (RedisUnavailableException e) {
        throw e;
      } catch (GameQueueException e) { // what is wrong with topics hides nothing of the rows
        return new Backlog(waiting, state, List.of(), 0);
      }
    }

    /** Of all slots together. */
    public long sum(ToLongFunction<SlotBacklog> of) {
      return slots.stream().mapToLong(of).sum();
    }

    /** Owners with rows that are not in MySQL; one who commits while he is claimed counts twice. */
    public long owners() {
      return sum(SlotBacklog::owners);
    }

    /**
     * Rows that no writer has claimed: their owners, times the rows that a few of each slot have.
     * Exact while few owners wait, else an estimate.
     */
    public long rows() {
      long counted = sum(SlotBacklog::counted);
      return counted == 0
          ? 0
          : Math.round(
              (double) sum(SlotBacklog::countedRows) / counted * sum(of -> of.due() + of.ready()));
    }

    /** How long the oldest waits, at least, ms; 0 when nobody does. */
    public long oldestAgeMillis() {
      return oldestAgeMillis(slot -> true);
    }

    /** The same without owners that are held up, for which nobody else waits. */
    public long oldestPassingAgeMillis() {
      return slots.stream().mapToLong(SlotBacklog::oldestPassingAgeMillis).max().orElse(0);
    }

    /** The same of some slots alone, with all owners. */
    public long oldestAgeMillis(IntPredicate which) {
      return slots.stream()
          .filter(of -> which.test(of.slot()))
          .mapToLong(SlotBacklog::oldestAgeMillis)
          .max()
          .orElse(0);
    }
  }

  /**
   * What a node needs to know of a {@link Backlog}. Immutable.
   *
   * @param oldestAgeMillis how long the oldest change waits for MySQL, at least, without owners
   *     that are held up; 0 when none does
   * @param rows that no writer has claimed, estimated
   * @param usedBytes memory of Redis
   * @param mostBytes its limit; 0 without one
   */
  record BacklogSummary(long oldestAgeMillis, long rows, long usedBytes, long mostBytes) {
    /** What a node needs of a look. */
    public static BacklogSummary of(Backlog backlog) {
      return new BacklogSummary(
          backlog.oldestPassingAgeMillis(),
          backlog.rows(),
          backlog.redis().usedBytes(),
          backlog.redis().mostBytes());
    }

    /** Used memory as a share of the limit, 0 to 1; 0 without a limit. */
    double fullness() {
      return mostBytes == 0 ? 0 : (double) usedBytes / mostBytes;
    }
  }

  /**
   * A look at the backlog as text, as it is published in Redis for all nodes and writers.
   * Stateless.
   *
   * <pre>
   * 5 USED_BYTES MAX_BYTES REPLICAS TOPICS_LEFT POLICY VERSION    the first number is the format's
   * NUMBER NUMBER ...                                  a line for each slot, as Waiting has them
   * TOPIC PENDING DUE HELD DEAD RETRYING FIRST OVERDUE PAUSED   a line for each topic: TopicBacklog
   *
   * 1 OLDEST_AGE_MILLIS ROWS USED_BYTES MAX_BYTES      the summary
   * </pre>
   */
  static final class BacklogText {
    private static final String FORMAT = "5";
    private static final String SUMMARY_FORMAT = "1";
    private static final int HEADER_WORDS = 7;
    private static final int TOPIC_NUMBERS = 8;
    private static final int SUMMARY_NUMBERS = 5;

    private BacklogText() {}

    static String of(Backlog backlog) {
      RedisState redis = backlog.redis();
      return Stream.concat(
              backlog.slots().stream().map(of -> words(of.numbers())),
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
        List<SlotBacklog> waiting = new ArrayList<>();
        for (int slot = 0; slot < slots; slot++) {
          long[] of = numbers(lines[slot + 1]);
          if (of.length != SlotBacklog.NUMBERS) {
            return null;
          }
          waiting.add(SlotBacklog.of(slot, of));
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
      return Arrays.stream(line.split(" ", -1)).mapToLong(Long::parseLong).toArray();
    }
  }

  /**
   * What waits in a topic. Immutable.
   *
   * @param overdueMillis for how long the message waits that has been due for longest, at least; 0
   *     when none is due
   * @param isPaused whether an operator wants it to wait
   */
  public record TopicBacklog(
      String topic, TopicCounts counts, long overdueMillis, boolean isPaused) {
    static TopicBacklog of(TopicSurvey.TopicSummary of, long nowMillis) {
      return new TopicBacklog(
          of.topic(), of.counts(), of.overdueMillis(nowMillis), of.pause() != null);
    }
  }
}
