package io.gameq.rights;

import io.gameq.rights.MySqlRights.RightsScript;
import io.gameq.rights.MySqlRights.Role;
import java.util.ArrayList;
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
    List<String> script = new ArrayList<>();
    StringBuilder begun = new StringBuilder();
    for (String line : RightsScript.lines("redis.acl")) {
      if (line.endsWith(" \\")) {
        begun.append(line.strip(), 0, line.strip().length() - 1);
      } else {
        script.add(RightsScript.with(begun + line.strip(), names));
        begun.setLength(0);
      }
    }
    return script;
  }

  /** The name of a role's user. */
  public static String user(String namespace, Role role) {
    return RightsScript.user(namespace) + "_" + role.lowerCase();
  }
}
