package io.gameq.backlog;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.script.SlotBacklog.BacklogScript;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A look that all processes of a namespace share: the latest is in Redis, and whoever finds it old
 * looks. Asking costs one short call. Used by one thread.
 *
 * @param <T> what of the look this process reads
 */
public final class SharedSnapshot<T> {
  private final String namespace;
  private final String key;
  private final String text;
  private final ToLongFunction<@Nullable T> oldMillis;
  private final Function<String, @Nullable T> read;
  private final Function<RedisConnection, OwnSnapshot<T>> look;
  private String at = "";
  private @Nullable T known;

  /** A look that this process took: what it needs itself, and the texts for all others. */
  public record OwnSnapshot<T>(T what, Map<String, String> texts) {}

  /** What was seen, and how long ago. */
  public record SeenSnapshot<T>(T what, long ageMillis) {}

  /**
   * Knows nothing yet.
   *
   * @param key under which the look is published, in the namespace
   * @param text which of its texts this process reads
   * @param oldMillis from which age on it looks itself, by what it knows
   * @param read a text; null when it cannot, as of another release
   */
  public SharedSnapshot(
      String namespace,
      String key,
      String text,
      ToLongFunction<@Nullable T> oldMillis,
      Function<String, @Nullable T> read,
      Function<RedisConnection, OwnSnapshot<T>> look) {
    this.namespace = namespace;
    this.key = key;
    this.text = text;
    this.oldMillis = oldMillis;
    this.read = read;
    this.look = look;
  }

  /**
   * The latest look; looks now when that is old and nobody else does, or when it cannot be read.
   *
   * @param redis a connection that no other thread uses meanwhile
   * @return null while somebody else takes the very first look
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public @Nullable SeenSnapshot<T> latest(RedisConnection redis) {
    BacklogScript.PublishedText asked =
        BacklogScript.ask(redis, namespace, key, text, at, oldMillis.applyAsLong(known));
    if (asked.isToLook()) {
      OwnSnapshot<T> made = look.apply(redis);
      at = BacklogScript.publish(redis, namespace, key, made.texts());
      known = made.what();
      return new SeenSnapshot<>(made.what(), 0);
    }
    if (asked.ageMillis() < 0) {
      return null;
    }
    if (!asked.text().isEmpty()) {
      at = asked.at();
      known = read.apply(asked.text());
    }
    return known == null
        ? new SeenSnapshot<>(look.apply(redis).what(), 0)
        : new SeenSnapshot<>(known, asked.ageMillis());
  }
}
