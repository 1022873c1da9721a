package io.gameq.writer.setup;

import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.script.ClaimScript;
import io.gameq.writer.config.ConfigReader;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.flush.WriterOptions;
import io.gameq.writer.service.WriterService;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.file.Path;

/** A writer in this process, with the servers that a configuration file names. */
record TestWriter(
    RedisConnector redis, MySql mysql, WriterService service, PrometheusMeterRegistry meters)
    implements AutoCloseable {
  static TestWriter start(Path file) {
    WriterConfig config = ConfigReader.read(file);
    RedisConnector redis = new RedisConnector(config.redis());
    MySql mysql = MySqlPool.openForFlushes(config.mysql().withPoolSize(8));
    PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    return new TestWriter(
        redis,
        mysql,
        new WriterService(
            new WriterOptions(
                config.namespace(),
                config.slots(),
                "w1",
                2,
                ClaimScript.Bounds.DEFAULT,
                WriterOptions.DEFAULT_PATIENCE,
                WriterOptions.DEFAULT_TOMBSTONES_KEPT,
                WriterOptions.NO_CEILING),
            redis,
            mysql,
            meters),
        meters);
  }

  @Override
  public void close() {
    service.close();
    mysql.close();
    redis.close();
  }
}
