package io.gameq.writer.campaign;

import io.lettuce.core.api.sync.RedisCommands;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Whether Redis holds nothing of a namespace that waits for MySQL, and no message that waits or is
 * held. May stay: own keys, journal marks, what topics remember of what is over, the parked rows of
 * sessions that lost their owner, each listed in a stale set, and due entries without rows: a
 * broken key is looked at again after a minute. Stateless.
 */
public final class DrainCheck {
  private static final List<String> MUST_BE_GONE =
      List.of("claimed:", "ready", "inflight:", "lease", "claim", "closing");

  /** Of {@code t:TOPIC:}. */
  private static final Set<String> MAY_STAY =
      Set.of(
          "dead",
          "why",
          "done",
          "done:before",
          "back",
          "back:before",
          "age",
          "fence",
          "handlers",
          "alive");

  private DrainCheck() {}

  /** The keys that should be gone. */
  public static List<String> leftovers(RedisCommands<String, String> redis, String namespace) {
    List<String> left = new ArrayList<>();
    Set<String> stale = new TreeSet<>();
    List<String> keys = redis.keys("{" + namespace + ":*");
    keys.stream()
        .filter(key -> name(key).equals("stale"))
        .forEach(key -> stale.addAll(redis.smembers(key)));
    for (String key : keys) {
      String name = name(key);
      if (name.startsWith("dirty:") && !stale.contains(key)) {
        left.add(key + " (" + redis.type(key) + ")");
      } else if (mustBeGone(name) || isOfWaitingMessage(name)) {
        left.add(name.endsWith(":failed") ? key + " " + redis.hgetall(key) : key);
      }
    }
    return left;
  }

  /** Those of rows: messages wait for nodes that run. */
  public static List<String> rows(RedisCommands<String, String> redis, String namespace) {
    return leftovers(redis, namespace).stream().filter(key -> !name(key).startsWith("t:")).toList();
  }

  private static String name(String key) {
    return key.substring(key.indexOf('}') + 2);
  }

  private static boolean isOfWaitingMessage(String name) {
    String of = name.startsWith("t:") ? name.split(":", 3)[2] : "fence";
    return !MAY_STAY.contains(of) && !of.startsWith("for:"); // a hint, for a minute
  }

  private static boolean mustBeGone(String name) {
    return MUST_BE_GONE.stream()
        .anyMatch(gone -> gone.endsWith(":") ? name.startsWith(gone) : name.equals(gone));
  }
}
