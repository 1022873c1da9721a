package io.gameq.servers;

import io.gameq.rights.MySqlRights.Role;
import io.gameq.rights.RedisRights;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/**
 * The users that nodes, writers and gameq-recovery log in to Redis as, by the script that operators
 * run. Stateless.
 */
public final class LeastRedisUsers {
  /** Of all of them. */
  public static final String PASSWORD = "least-rights-in-redis";

  /** Stands for all namespaces, for tests of what is below them. */
  public static final String ANY = "*";

  private LeastRedisUsers() {}

  /** The lines {@code ACL SETUSER ...} that make the users of a namespace. */
  public static List<String> commands(String namespace) {
    return RedisRights.script(namespace).stream()
        .filter(line -> line.startsWith("ACL SETUSER "))
        .map(LeastRedisUsers::withHash)
        .toList();
  }

  /** Makes the users of a namespace. */
  public static void make(RedisCommands<String, String> admin, String namespace) {
    commands(namespace).forEach(command -> run(admin, command));
  }

  /** Another password, instead of the one it has. */
  public static void changePassword(
      RedisCommands<String, String> admin, String user, String password) {
    run(admin, "ACL SETUSER " + user + " resetpass #" + sha256(password));
  }

  /** A command in one line, whose answer must be OK. */
  public static void run(RedisCommands<String, String> admin, String command) {
    CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8);
    List<String> words = List.of(command.split(" +"));
    words.subList(1, words.size()).forEach(arguments::add);
    String answer =
        admin.dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), arguments);
    if (!"OK".equals(answer)) {
      throw new IllegalStateException(command + ": " + answer);
    }
  }

  /** The same as lines of redis.conf. */
  public static List<String> settings(String namespace) {
    return commands(namespace).stream()
        .map(line -> line.replace("ACL SETUSER ", "user ").replace(" reset ", " "))
        .toList();
  }

  /** The URI with the login of a user; its server is the one of the given URI. */
  public static String uri(String server, Role role, String namespace) {
    String scheme = server.substring(0, server.indexOf("//") + 2);
    String where = server.substring(server.lastIndexOf('@') + 1).replace(scheme, "");
    return scheme + RedisRights.user(namespace, role) + ":" + PASSWORD + "@" + where;
  }

  /** The URI without a login. */
  public static String withoutLogin(String uri) {
    return uri.replaceAll("//.*@", "//");
  }

  private static String withHash(String line) {
    String filled = line;
    for (Role role : Role.values()) {
      filled = filled.replace("${" + role.name() + "_SHA256}", sha256(PASSWORD));
    }
    return filled;
  }

  private static String sha256(String text) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
