package io.gameq.backlog;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.Slots;
import io.gameq.redis.script.BacklogScript;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One look at the backlog every five seconds for all nodes and writers of a namespace: the latest
 * is in Redis, and the writer that finds it old looks; a node does when no writer did for some
 * seconds more. Asking costs one short call. Used by one thread.
 *
 * @param <T> what of a look is asked for
 */
public final class SharedBacklog<T> {
  private static final String KEY = "backlog";
  private static final String SLOTS = "slots";
  private static final String SUMMARY = "summary";

  /** From which age on a writer looks. */
  static final long OLD_MILLIS = 5_000;

  /** The same of a node: no writer is alive then, or none reaches Redis. */
  static final long OLD_WITHOUT_WRITER_MILLIS = 10_000;

  private final String namespace;
  private final Function<RedisConnection, Backlog> look;
  private final Part<T> part;
  private String at = "";
  private @Nullable T known;

  /** What of a look is asked for: the name of its text, and how it is read and made. */
  private record Part<T>(
      String name,
      Function<String, @Nullable T> read,
      Function<Backlog, T> ofLook,
      long oldMillis) {}

  /** What was seen, and how long ago. */
  public record Seen<T>(T what, long ageMillis) {}

  private SharedBacklog(String namespace, Function<RedisConnection, Backlog> look, Part<T> part) {
    this.namespace = namespace;
    this.look = look;
    this.part = part;
  }

  /**
   * All of it, as writers show it.
   *
   * @param look looks when it is this one's turn
   */
  public static SharedBacklog<Backlog> whole(
      String namespace, int slots, Function<RedisConnection, Backlog> look) {
    return new SharedBacklog<>(
        namespace,
        look,
        new Part<>(SLOTS, text -> BacklogText.backlog(text, slots), of -> of, OLD_MILLIS));
  }

  /** What nodes need: a short text. */
  public static SharedBacklog<BacklogSummary> summary(String namespace, Slots slots) {
    return new SharedBacklog<>(
        namespace,
        redis -> Backlog.of(redis, slots),
        new Part<>(SUMMARY, BacklogText::summary, BacklogSummary::of, OLD_WITHOUT_WRITER_MILLIS));
  }

  /**
   * The latest look; looks now when that is old and nobody else does, or when it cannot be read, as
   * from another release.
   *
   * @param redis a connection that no other thread uses meanwhile
   * @return null while somebody else takes the very first look
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public @Nullable Seen<T> latest(RedisConnection redis) {
    BacklogScript.Asked asked =
        BacklogScript.ask(redis, namespace, KEY, part.name(), at, part.oldMillis());
    if (asked.isToLook()) {
      return new Seen<>(part.ofLook().apply(look(redis)), 0);
    }
    if (!asked.text().isEmpty()) {
      at = asked.at();
      known = part.read().apply(asked.text());
    }
    if (asked.ageMillis() < 0) {
      return null;
    }
    return known == null
        ? new Seen<>(part.ofLook().apply(look.apply(redis)), 0)
        : new Seen<>(known, asked.ageMillis());
  }

  private Backlog look(RedisConnection redis) {
    Backlog seen = look.apply(redis);
    at =
        BacklogScript.publish(
            redis,
            namespace,
            KEY,
            Map.of(SLOTS, BacklogText.of(seen), SUMMARY, BacklogText.of(BacklogSummary.of(seen))));
    known = part.ofLook().apply(seen);
    return seen;
  }
}
