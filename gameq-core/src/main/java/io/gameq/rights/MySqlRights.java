package io.gameq.rights;

import io.gameq.terminal.ClassResource;
import io.gameq.terminal.Variables;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The users of a namespace in a database. Stateless. */
public final class MySqlRights {
  private static final String OF_EACH_TABLE = "${table}";

  private MySqlRights() {}

  /**
   * The script; placeholders stand for passwords.
   *
   * @param namespace begins the users' names
   * @param tables that are managed
   */
  public static List<String> script(String namespace, String database, Collection<String> tables) {
    Map<String, String> names = new TreeMap<>();
    names.put("user", RightsScript.user(namespace));
    names.put("database", quoted(database));
    names.put("pattern", quoted(database).replace("_", "\\_").replace("%", "\\%"));
    List<String> script = new ArrayList<>();
    for (String line : RightsScript.lines("mysql.sql")) {
      if (line.contains(OF_EACH_TABLE)) {
        for (String table : tables) {
          names.put("table", quoted(table));
          script.add(RightsScript.with(line, names));
        }
      } else {
        script.add(RightsScript.with(line, names));
      }
    }
    return script;
  }

  /** The statements of a script alone. */
  public static List<String> statements(List<String> script) {
    return script.stream()
        .filter(line -> !line.isBlank() && !line.startsWith("--"))
        .map(line -> line.substring(0, line.length() - 1))
        .toList();
  }

  /** The name of a role's user. */
  public static String user(String namespace, Role role) {
    return RightsScript.user(namespace) + "_" + role.lowerCase();
  }

  private static String quoted(String name) {
    return name.replace("`", "``");
  }

  /** Who has rights of his own. */
  public enum Role {
    NODE,
    WRITER,
    RECOVERY,
    /** {@code schema check} and {@code schema migrate}; not in Redis. */
    MIGRATION;

    /** As it ends the names of users. */
    public String lowerCase() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Reads a script of rights, and puts names in the place of {@code ${...}}. Stateless. */
  static final class RightsScript {
    /** Of a user's name; MySQL takes 32 characters, and {@code _migration} follows. */
    private static final int MOST_USER_CHARS = 22;

    private RightsScript() {}

    /** The lines of a resource of this package. */
    static List<String> lines(String resource) {
      return ClassResource.text(RightsScript.class, resource).lines().toList();
    }

    static String with(String line, Map<String, String> names) {
      return Variables.filled(line, name -> names.getOrDefault(name, "${" + name + "}"));
    }

    /** How the users of a namespace begin. */
    static String user(String namespace) {
      return namespace.substring(0, Math.min(MOST_USER_CHARS, namespace.length()));
    }
  }
}
