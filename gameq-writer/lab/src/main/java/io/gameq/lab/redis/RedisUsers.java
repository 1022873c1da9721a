package io.gameq.lab.redis;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisReply;
import io.gameq.rights.RedisRights;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/** Makes the users of a namespace with the least rights. Stateless. */
public final class RedisUsers {
  private RedisUsers() {}

  /**
   * Runs the script that operators run.
   *
   * @param admin may do that
   * @param password of all users
   */
  public static void make(RedisConfig admin, String namespace, String password) {
    String hash = sha256(password);
    try (RedisConnector connector = new RedisConnector(admin);
        RedisConnection redis = connector.open()) {
      RedisRights.script(namespace).stream()
          .filter(line -> line.startsWith("ACL "))
          .map(line -> line.replaceAll("\\$\\{[A-Z]+_SHA256}", hash))
          .forEach(line -> run(redis, List.of(line.split(" +"))));
    }
  }

  private static void run(RedisConnection redis, List<String> words) {
    CommandArgs<byte[], byte[]> arguments = new CommandArgs<>(ByteArrayCodec.INSTANCE);
    words.subList(1, words.size()).forEach(arguments::add);
    String unused =
        RedisReply.await(
            () ->
                redis
                    .sync()
                    .dispatch(
                        CommandType.ACL, new StatusOutput<>(ByteArrayCodec.INSTANCE), arguments));
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
