package io.gameq.writer.config;

import io.gameq.Password;
import io.gameq.redis.RedisLogin;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Reads {@code node} of the configuration file. Stateless. */
final class NodeSection {
  private NodeSection() {}

  /** Null: the section is not there, so there is no node in the writer. */
  static @Nullable NodeSettings read(Section node) {
    if (node.isMissing()) {
      return null;
    }
    String name = node.required("name");
    if (!name.matches("[A-Za-z0-9._-]{1,64}")) {
      throw node.wrongValue("name", "use 1 to 64 of A-Z a-z 0-9 . _ -");
    }
    Path wal = Path.of(node.required("walDirectory"));
    Section redis = node.section("redis");
    RedisLogin redisLogin = new RedisLogin(redis.text("user"), ConfigReader.password(redis));
    redis.refuseOthers();
    Section mysql = node.section("mysql");
    String mysqlUser = mysql.required("user");
    Password mysqlPassword = ConfigReader.password(mysql);
    mysql.refuseOthers();
    String plugins = node.text("plugins");
    if (plugins != null && !Files.isDirectory(Path.of(plugins))) {
      throw node.wrongValue("plugins", "this is no directory");
    }
    node.refuseOthers();
    return new NodeSettings(
        name,
        wal,
        redisLogin,
        new NodeSettings.MySqlLogin(
            mysqlUser, mysqlPassword == null ? Password.of("") : mysqlPassword),
        plugins == null ? null : Path.of(plugins));
  }
}
