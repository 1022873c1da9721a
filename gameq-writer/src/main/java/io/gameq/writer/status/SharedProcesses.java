package io.gameq.writer.status;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.script.BacklogScript;
import io.gameq.redis.script.NodeSigns.ProcessSigns;
import io.gameq.redis.script.NodeSigns.ProcessSigns.ProcessSign;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One look at the processes for all writers of a namespace: the latest is in Redis, and the writer
 * that finds it old looks. Asking costs one short call. Used by one thread.
 */
public final class SharedProcesses {
  private static final String KEY = "fleet";
  private static final String SIGNS = "signs";
  private static final ObjectMapper JSON =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  private static final long OLD_MILLIS = 5_000;

  /** A look at many takes longer: 40 processes a second, however many there are. */
  private static final int OFTEN = 200;

  private final String namespace;
  private String at = "";
  private @Nullable Processes known;

  public SharedProcesses(String namespace) {
    this.namespace = namespace;
  }

  /** A look, as it is published. */
  private record Text(List<ProcessSign> signs, long clockBehindMillis) {}

  /**
   * The latest look; looks now when that is old and nobody else does, or when it cannot be read, as
   * from another release.
   *
   * @param redis a connection that no other thread uses meanwhile
   * @return null while somebody else takes the very first look
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public @Nullable Processes latest(RedisConnection redis) {
    Processes before = known;
    int count = before == null ? 0 : before.nodes().size() + before.writers().size();
    BacklogScript.Asked asked =
        BacklogScript.ask(
            redis, namespace, KEY, SIGNS, at, OLD_MILLIS * Math.max(1, count / OFTEN));
    if (asked.isToLook()) {
      return look(redis);
    }
    if (!asked.text().isEmpty()) {
      at = asked.at();
      known = read(asked.text());
    }
    return asked.ageMillis() < 0 || known != null ? known : look(redis);
  }

  private static @Nullable Processes read(String text) {
    try {
      Text of = JSON.readValue(text, Text.class);
      return Processes.of(of.signs(), of.clockBehindMillis());
    } catch (JsonProcessingException | RuntimeException e) {
      return null;
    }
  }

  private Processes look(RedisConnection redis) {
    ProcessSigns signs = new ProcessSigns(namespace);
    Text seen = new Text(signs.all(redis), signs.clockBehindMillis(redis));
    Processes now = Processes.of(seen.signs(), seen.clockBehindMillis());
    try {
      at =
          BacklogScript.publish(
              redis, namespace, KEY, Map.of(SIGNS, JSON.writeValueAsString(seen)));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("records of text and numbers are JSON", e);
    }
    known = now;
    return now;
  }
}
