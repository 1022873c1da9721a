package io.gameq.rights;

import io.gameq.rights.MySqlRights.RightsScript;
import io.gameq.rights.MySqlRights.Role;
import java.util.List;
import java.util.Map;

/** The users of a namespace in Redis. Stateless. */
public final class RedisRights {
  private RedisRights() {}

  /**
   * The script, with one line for each user; placeholders stand for the hashes of passwords.
   *
   * @param namespace as in the configuration
   */
  public static List<String> script(String namespace) {
    Map<String, String> names =
        Map.of("namespace", namespace, "user", RightsScript.user(namespace));
    String script = String.join("\n", RightsScript.lines("redis.acl"));
    return script
        .replaceAll("\\\\\n *", "") // a line that goes on
        .lines()
        .map(line -> RightsScript.with(line, names))
        .toList();
  }

  /** The name of a role's user. */
  public static String user(String namespace, Role role) {
    return MySqlRights.user(namespace, role);
  }
}
