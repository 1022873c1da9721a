package io.gameq.writer.topics;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.Slots;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.mysql.CommandDatabase;
import io.gameq.writer.terminal.TopCommand;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * What the topics commands have in common: each works on the topics of one namespace. MySQL is
 * opened when something is to be changed, or Redis does not know the topic.
 */
abstract class TopicCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Override
  public final Integer call() {
    check();
    WriterConfig settings = AgreedConfig.readWithRedis(config, Objects.requireNonNull(spec));
    Slots slots = new Slots(settings.namespace(), settings.slots());
    try (RedisConnector connector = new RedisConnector(settings.redis());
        ControlConnection redis = new ControlConnection(connector);
        AuditLog mysql = new AuditLog(settings.mysql())) {
      int exitCode = work(new AuditedTopics(redis, slots, mysql, TopCommand.actor(self())));
      out().flush();
      return exitCode;
    }
  }

  /** Refuses wrong usage before anything is connected to. */
  void check() {}

  /** Returns the exit code. */
  abstract int work(AuditedTopics topics);

  final PrintWriter out() {
    return self().commandLine().getOut();
  }

  final PrintWriter err() {
    return self().commandLine().getErr();
  }

  final CommandSpec self() {
    return Objects.requireNonNull(spec);
  }

  /** Opened when it is first asked for: lists and traces do without MySQL. */
  private static final class AuditLog implements Supplier<MySql>, AutoCloseable {
    private final MySqlConfig config;
    private @Nullable MySql open;

    AuditLog(MySqlConfig config) {
      this.config = config;
    }

    @Override
    public MySql get() {
      if (open == null) {
        open = CommandDatabase.open(config, "topics");
      }
      return open;
    }

    @Override
    public void close() {
      if (open != null) {
        open.close();
      }
    }
  }
}
