package io.gameq.writer.cli;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.Slots;
import io.gameq.writer.admin.Topics;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.mysql.CommandDatabase;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Opens the topics of one namespace for a command. */
abstract class TopicCommand extends AdminCommand {
  static final String TOPIC = "As 'topics' names it.";

  /** MySQL is opened when something is to be changed, or Redis does not know the topic. */
  private static final class LazyMySql implements Supplier<MySql>, AutoCloseable {
    private final MySqlConfig config;
    private @Nullable MySql open;

    LazyMySql(MySqlConfig config) {
      this.config = config;
    }

    @Override
    public MySql get() {
      if (open == null) {
        open = CommandDatabase.open(config, "topics");
      }
      return Objects.requireNonNull(open);
    }

    @Override
    public void close() {
      if (open != null) {
        open.close();
      }
    }
  }

  final int with(ConfigOption config, ToIntFunction<Topics> work) {
    WriterConfig settings = AgreedConfig.readWithRedis(config, spec());
    try (RedisConnector connector = new RedisConnector(settings.redis());
        ControlConnection redis = new ControlConnection(connector);
        LazyMySql mysql = new LazyMySql(settings.mysql())) {
      Slots slots = new Slots(settings.namespace(), settings.slots());
      int exitCode = work.applyAsInt(new Topics(redis, slots, mysql, actor()));
      out().flush();
      return exitCode;
    }
  }
}
